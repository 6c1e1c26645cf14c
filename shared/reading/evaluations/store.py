"""Appends evaluation results to ClickHouse."""

from collections.abc import Sequence

from shared.foundation.clickhouse import ClickHouse
from shared.reading.evaluations.records import COLUMNS, MAP_COLUMNS, Evaluation

# A part never has two copies of a result, because an insert removes them. Aggregates rely on it.
_INSERT = {"optimize_on_insert": 1}


def insert(clickhouse: ClickHouse, rows: Sequence[Evaluation]) -> None:
    """Appends results; repeating the call with equal records changes nothing.

    Raises `Unavailable` if ClickHouse cannot store them now.
    """
    if not rows:
        return
    columns = {name: _column(name, rows) for name in COLUMNS}
    clickhouse.insert("evaluations", columns, settings=_INSERT)


def _column(name: str, rows: Sequence[Evaluation]) -> list[object]:
    values = [getattr(row, name) for row in rows]
    return [value or {} for value in values] if name in MAP_COLUMNS else values
