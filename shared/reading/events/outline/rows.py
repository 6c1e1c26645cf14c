"""Reads the events of a page of an outline, column by column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.event_columns import ORDER, ORDER_BY, ORDER_KEY, SELECT_KEY, TABLE
from shared.foundation.clickhouse.rewriting import merged
from shared.foundation.clickhouse.settings import SMALL_PAGE
from shared.foundation.clickhouse.where import Where, moment, us
from shared.reading.events.outline.columns import SELECTED


class OutlineKey(NamedTuple):
    """The place of an event in its session; `ts` in microseconds."""

    ts: int
    arrival: int
    id: int


class OutlinePlace(NamedTuple):
    """The place of a page: the events after `key`, before it, or from it on."""

    side: Literal["after", "before", "from"]
    key: OutlineKey


@dataclass(frozen=True)
class OutlineRows:
    """The events of a page in order: `columns` as `SELECTED` has them, and their arrivals."""

    columns: Mapping[str, Sequence[Any]]
    arrivals: Sequence[int]

    def __len__(self) -> int:
        return len(self.arrivals)

    def key(self, place: int) -> OutlineKey:
        """Returns the key of the event at this place of the page."""
        return OutlineKey(self.columns["t"][place], self.arrivals[place], self.columns["id"][place])


_COMPARED = {"after": ">", "before": "<", "from": ">="}
_BACKWARDS = ", ".join(f"{name} DESC" for name in ORDER)
# These make up the keys of events.
_ALWAYS = ("id", "t")
# Copies differ in `arrival`, so conditions on the key apply to merged rows.
_ROWS = f"""
SELECT {{columns}}, arrival AS arrived
FROM {TABLE} {{merged}}
ORDER BY {{order}}
LIMIT {{limit}}
"""
# Copies that are not merged yet do no harm here. Without any event both times are 1970.
_TIMES = f"""
SELECT {us("min(ts)")}, {us("max(ts)")} FROM {TABLE} PREWHERE {{where}} WHERE {{rest}}
"""


def read(
    clickhouse: ClickHouse,
    where: Where,
    names: Sequence[str],
    place: OutlinePlace | None,
    limit: int,
) -> OutlineRows:
    """Reads the first `limit` events of `place`, or the last ones before it."""
    rest = () if place is None else (_compared(where, place),)
    backwards = place is not None and place.side == "before"
    order = _BACKWARDS if backwards else ORDER_BY
    return _read(clickhouse, where, names, rest, order, limit, reverse=backwards)


def read_arrived(
    clickhouse: ClickHouse,
    where: Where,
    names: Sequence[str],
    position: tuple[int, int],
    limit: int,
) -> tuple[OutlineRows, tuple[int, int] | None]:
    """Reads the events that arrived first at `position` (arrival, id) or later, in their order.

    Also returns the position of the rest, None if there is none. Finds their times first: few of
    thousands are new, and only their granules are read then.
    """
    rest = "(arrival, id) >= ({arrival:UInt64}, {arrived_id:UInt64})"
    where.params.update(arrival=position[0], arrived_id=position[1])
    [(oldest, newest)] = clickhouse.rows(
        _TIMES.format(where=where, rest=rest), where.params, settings=SMALL_PAGE
    )
    where.add(
        f"ts >= {moment('oldest')} AND ts <= {moment('newest')}", oldest=oldest, newest=newest
    )
    found = _read(clickhouse, where, names, (rest,), "arrival, id", limit)
    left = None
    if len(found) == limit:
        _, arrival, event_id = found.key(-1)
        left = (arrival, event_id + 1)
    order = sorted(range(len(found)), key=found.key)
    sorted_columns = {
        name: [column[place] for place in order] for name, column in found.columns.items()
    }
    return OutlineRows(sorted_columns, [found.arrivals[place] for place in order]), left


def page_around(
    clickhouse: ClickHouse, where: Where, event_id: int, limit: int
) -> OutlinePlace | None:
    """Returns the place of the page that holds an event, None if no page does.

    Pages are those that begin at the first event and have `limit` events each.
    """
    keys = clickhouse.rows(
        f"SELECT {SELECT_KEY} FROM {TABLE} {merged(where, 'id = {event:UInt64}')}",
        {**where.params, "event": event_id},
        settings=SMALL_PAGE,
    )
    if not keys:
        return None
    rest = _compared(where, OutlinePlace("before", OutlineKey(*keys[0])))
    [(before,)] = clickhouse.rows(
        f"SELECT count() FROM {TABLE} {merged(where, rest)}",
        where.params,
        settings=SMALL_PAGE,
    )
    starts = clickhouse.rows(
        f"SELECT {SELECT_KEY} FROM {TABLE} {merged(where)}"
        f" ORDER BY {ORDER_BY} LIMIT 1 OFFSET {before // limit * limit:d}",
        where.params,
        settings=SMALL_PAGE,
    )
    return OutlinePlace("from", OutlineKey(*starts[0])) if starts else None


def _compared(where: Where, place: OutlinePlace) -> str:
    """Returns the condition for the events of a place; adds its parameters to `where`."""
    where.params.update(
        place_ts=place.key.ts, place_arrival=place.key.arrival, place_id=place.key.id
    )
    key = f"({moment('place_ts')}, {{place_arrival:UInt64}}, {{place_id:UInt64}})"
    return f"{ORDER_KEY} {_COMPARED[place.side]} {key}"


def _read(
    clickhouse: ClickHouse,
    where: Where,
    names: Sequence[str],
    rest: Sequence[str],
    order: str,
    limit: int,
    *,
    reverse: bool = False,
) -> OutlineRows:
    chosen = list(dict.fromkeys((*_ALWAYS, *names)))
    sql = _ROWS.format(
        columns=", ".join(f"{SELECTED[name]} AS c{n}" for n, name in enumerate(chosen)),
        merged=merged(where, *rest),
        order=order,
        limit=limit,
    )
    *columns, arrivals = clickhouse.columns(sql, where.params, settings=SMALL_PAGE) or [
        () for _ in (*chosen, "arrival")
    ]
    step = -1 if reverse else 1
    return OutlineRows(
        {name: column[::step] for name, column in zip(chosen, columns, strict=True)},
        arrivals[::step],
    )
