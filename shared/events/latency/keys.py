"""Which key paths can matter: most events share one column, and then nothing else is read."""

from dataclasses import dataclass

from shared.clickhouse import ClickHouse
from shared.clickhouse.event_columns import TABLE
from shared.clickhouse.where import Where
from shared.events.latency.paths import COLUMNS, value_of
from shared.events.latency.settings import LATENCY


@dataclass(frozen=True)
class Keys:
    """The paths that keys are looked for at, in order.

    `certain`: every event has a value at the only path. `empty`: there are no events.
    """

    paths: tuple[str, ...]
    certain: bool = False
    empty: bool = False


def find_keys(clickhouse: ClickHouse, where: Where, paths: tuple[str, ...]) -> Keys:
    """Those of `paths` at which a pair of the events of `where` can have its first common value.

    Only columns are looked at. One that no event has is no key; behind one that all events have
    no path is ever the first. A duplicate of an event changes neither, so there is no FINAL here.
    """
    columns = [path for path in paths if path in COLUMNS]
    counted = "".join(f", countIf({value_of(path, where)} != '')" for path in columns)
    [(total, *counts)] = clickhouse.rows(
        f"SELECT count(){counted} FROM {TABLE} WHERE {where}", where.params, settings=LATENCY
    )
    if not total:
        return Keys((), empty=True)
    having = dict(zip(columns, counts, strict=True))
    kept: list[str] = []
    for path in paths:
        if having.get(path) == 0:
            continue
        kept.append(path)
        if having.get(path) == total:
            return Keys(tuple(kept), certain=len(kept) == 1)
    return Keys(tuple(kept))
