"""The values that filters of results can choose from."""

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.settings import PAGE
from shared.foundation.clickhouse.where import Where


def environments(clickhouse: ClickHouse, org_id: str) -> list[str]:
    """Lists the environments that have results, sorted."""
    return _distinct(clickhouse, org_id, "environment")


def score_keys(clickhouse: ClickHouse, org_id: str) -> list[str]:
    """Lists the score keys of all results, sorted."""
    return _distinct(clickhouse, org_id, "arrayJoin(mapKeys(scores))")


def _distinct(clickhouse: ClickHouse, org_id: str, expression: str) -> list[str]:
    where = Where(org_id)
    rows = clickhouse.rows(
        f"SELECT DISTINCT {expression} AS value FROM evaluations WHERE {where} ORDER BY value",
        where.params,
        settings=PAGE,
    )
    return [value for (value,) in rows]
