"""The key paths that can matter: most events share one column, and then no other path is read."""

from dataclasses import dataclass

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.event_columns import TABLE
from shared.foundation.clickhouse.where import Where
from shared.reading.events.latency.paths import COLUMNS, value_of
from shared.reading.events.latency.settings import LATENCY


@dataclass(frozen=True)
class LatencyKeys:
    """The paths of keys, in order.

    With `certain` every event has a value at the only path. With `empty` there are no events.
    """

    paths: tuple[str, ...]
    certain: bool = False
    empty: bool = False


def find_keys(clickhouse: ClickHouse, where: Where, paths: tuple[str, ...]) -> LatencyKeys:
    """Returns those of `paths` at which pairs of events can have their first common value.

    Only columns are checked. A column that no event has is dropped; after a column that all events
    have, later paths cannot matter. Duplicates of events change neither, so FINAL is not needed.
    """
    columns = [path for path in paths if path in COLUMNS]
    counted = "".join(f", countIf({value_of(path, where)} != '')" for path in columns)
    [(total, *counts)] = clickhouse.rows(
        f"SELECT count(){counted} FROM {TABLE} WHERE {where}", where.params, settings=LATENCY
    )
    if not total:
        return LatencyKeys((), empty=True)
    having = dict(zip(columns, counts, strict=True))
    kept: list[str] = []
    for path in paths:
        if having.get(path) == 0:
            continue
        kept.append(path)
        if having.get(path) == total:
            return LatencyKeys(tuple(kept), certain=len(kept) == 1)
    return LatencyKeys(tuple(kept))
