"""Appends evaluation results to ClickHouse."""

from collections.abc import Sequence

from shared.foundation.clickhouse import ClickHouse
from shared.reading.evaluations.records import BUILTINS, COLUMNS, Evaluation, column

# A part never has two copies of a result, because an insert removes them. Aggregates rely on it.
_INSERT = {"optimize_on_insert": 1}


def insert(clickhouse: ClickHouse, rows: Sequence[Evaluation]) -> None:
    """Appends results; repeating the call with equal records changes nothing.

    Those of own evaluators go to a table of their own. Raises `Unavailable` if ClickHouse cannot
    store them now.
    """
    _insert(clickhouse, "evaluations", [row for row in rows if row.evaluator in BUILTINS])
    _insert(clickhouse, "own_evaluations", [row for row in rows if row.evaluator not in BUILTINS])


def _insert(clickhouse: ClickHouse, table: str, rows: list[Evaluation]) -> None:
    if rows:
        columns = {name: column(name, rows) for name in COLUMNS}
        clickhouse.insert(table, columns, settings=_INSERT)
