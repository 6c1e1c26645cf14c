"""Counts of the evaluations that ended in a billing window."""

from collections.abc import Mapping
from typing import NamedTuple

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.settings import PAGE
from shared.foundation.clickhouse.where import Where, us
from shared.foundation.core.clock import to_us
from shared.upkeep.usage.billing_windows import LENGTH_MS, BillingWindow


class EvaluationTotals(NamedTuple):
    """`runs` counts all evaluations that ended, `evaluations` only those with a result."""

    evaluations: int
    runs: int


def evaluation_totals(
    clickhouse: ClickHouse, org_id: str, window: BillingWindow
) -> EvaluationTotals:
    """Returns the totals of one window."""
    where = _completed(org_id, window)
    [row] = clickhouse.rows(
        f"SELECT countIf(status = 'done'), count() FROM evaluations FINAL WHERE {where}",
        where.params,
        settings=PAGE,
    )
    return EvaluationTotals(*row)


def evaluations_by_window(
    clickhouse: ClickHouse, org_id: str, span: BillingWindow
) -> Mapping[int, int]:
    """Counts the results in each window of `span`.

    Keys are window numbers from the start of `span`.
    """
    where = _completed(org_id, span)
    return dict(
        clickhouse.rows(
            f"SELECT intDiv({us('completed_at')} - {{start_us:Int64}},"
            f" {LENGTH_MS * 1000}) AS place, countIf(status = 'done')"
            f" FROM evaluations FINAL WHERE {where} GROUP BY place",
            {**where.params, "start_us": to_us(span.start)},
            settings=PAGE,
        )
    )


def _completed(org_id: str, window: BillingWindow) -> Where:
    return Where(org_id).between("completed_at", window.start, window.end)
