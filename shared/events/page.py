"""Pages of events: the newest (or oldest) rows that match, exact under duplicates.

What keeps a page fast on a large table is a bound on time, so a page looks at a narrow window
first and widens it until the page is full or the range is covered.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Meta

from shared.clickhouse import ClickHouse, Row
from shared.clickhouse.settings import PAGE
from shared.clickhouse.where import moment, us
from shared.clock import now_us, to_us
from shared.cursor import decode_cursor, encode_cursor
from shared.events import payloads
from shared.events.columns import TABLE
from shared.events.filters import EventFilters
from shared.page_bytes import how_many_fit

# Cursors come from outside, and ClickHouse takes no sign where a column has none.
_Natural = Annotated[int, Meta(ge=0)]


class Key(msgspec.Struct, array_like=True):
    """Where a page ended: the sort key of its last row."""

    ts: _Natural
    arrival: _Natural
    id: _Natural


_HOUR_US = 3600 * 1_000_000
_WINDOWS_US = (_HOUR_US, 24 * _HOUR_US, 30 * 24 * _HOUR_US)
_FUTURE_US = 25 * _HOUR_US


@dataclass(frozen=True)
class Page:
    """Rows of the columns that were asked for, and the cursor of the next page if there is one."""

    rows: list[Row]
    next_cursor: str | None


@dataclass(frozen=True)
class Span:
    """A half-open range of time, [start, stop) in microseconds."""

    start: int
    stop: int


def read_page(
    clickhouse: ClickHouse,
    org_id: str,
    columns: tuple[str, ...],
    filters: EventFilters,
    *,
    ascending: bool,
    cursor: str | None,
    limit: int,
) -> Page:
    """One page of `columns`, newest first unless `ascending`.

    It ends before `limit` where the payloads together would be larger than `MAX_PAGE_BYTES`.
    Raises `Invalid` for a cursor that this list did not issue.
    """
    after = decode_cursor(cursor, Key) if cursor is not None else None
    span = _span(clickhouse, org_id, filters, after, ascending=ascending)
    found: list[Row] = []
    for window in _windows(span, ascending=ascending):
        wanted = limit + 1 - len(found)
        found += _read(
            clickhouse, org_id, columns, filters, window, after, ascending=ascending, limit=wanted
        )
        if len(found) > limit:
            break
    shown = found[:limit]
    if payloads.COLUMN in columns:
        shown = shown[: how_many_fit([row[payloads.WEIGHT] for row in shown])]
    next_cursor = encode_cursor(shown[-1][-3:]) if len(shown) < len(found) else None
    if payloads.COLUMN in columns:
        shown = payloads.add_large(clickhouse, org_id, shown, columns.index(payloads.COLUMN))
    return Page([row[: len(columns)] for row in shown], next_cursor)


def _span(
    clickhouse: ClickHouse,
    org_id: str,
    filters: EventFilters,
    after: Key | None,
    *,
    ascending: bool,
) -> Span:
    """The range that the rest of the list can lie in: the filter's, from the cursor on."""
    start = to_us(filters.ts_from) if filters.ts_from else 0
    stop = to_us(filters.ts_to) if filters.ts_to else now_us() + _FUTURE_US
    if after is not None and ascending:
        start = max(start, after.ts)
    elif after is not None:
        stop = min(stop, after.ts + 1)
    if filters.session_id:
        known = _sessions_span(clickhouse, org_id, filters.session_id)
        return Span(max(start, known.start), min(stop, known.stop))
    if ascending and start == 0:
        start = _oldest(clickhouse, org_id)
    return Span(start, stop)


def _sessions_span(clickhouse: ClickHouse, org_id: str, session_ids: list[str]) -> Span:
    [(start, stop)] = clickhouse.rows(
        f"SELECT {us('min(started_at)')}, {us('max(last_event_at)')} + 1 FROM agent_sessions"
        " WHERE org_id = {org_id:String} AND session_id IN {session_ids:Array(String)}",
        {"org_id": org_id, "session_ids": session_ids},
    )
    return Span(start, stop)


def _oldest(clickhouse: ClickHouse, org_id: str) -> int:
    rows = clickhouse.rows(
        f"SELECT {us('ts')} FROM {TABLE} WHERE org_id = {{org_id:String}} ORDER BY ts LIMIT 1",
        {"org_id": org_id},
    )
    return int(rows[0][0]) if rows else 0


def _windows(span: Span, *, ascending: bool) -> Iterator[Span]:
    """The span cut into ever wider pieces, beginning where the list does."""
    start, stop = span.start, span.stop
    for width in _WINDOWS_US:
        if start >= stop:
            return
        if ascending:
            edge = min(stop, start + width)
            yield Span(start, edge)
            start = edge
        else:
            edge = max(start, stop - width)
            yield Span(edge, stop)
            stop = edge
    if start < stop:
        yield Span(start, stop)


def _read(
    clickhouse: ClickHouse,
    org_id: str,
    columns: tuple[str, ...],
    filters: EventFilters,
    window: Span,
    after: Key | None,
    *,
    ascending: bool,
    limit: int,
) -> list[Row]:
    where = filters.where(org_id)
    where.add(
        f"ts >= {moment('start')} AND ts < {moment('stop')}",
        start=window.start,
        stop=window.stop,
    )
    if after is not None:
        where.add(
            f"(ts, arrival, id) {'>' if ascending else '<'}"
            f" ({moment('after_ts')}, {{after_arrival:UInt64}}, {{after_id:UInt64}})",
            after_ts=after.ts,
            after_arrival=after.arrival,
            after_id=after.id,
        )
    direction = "ASC" if ascending else "DESC"
    chosen = [payloads.SMALL if name == payloads.COLUMN else name for name in columns]
    weight = payloads.SIZE if payloads.COLUMN in columns else "0"
    return clickhouse.rows(
        f"SELECT {', '.join(chosen)}, {weight}, {us('ts')}, arrival, id"
        f" FROM {TABLE} FINAL WHERE {where}"
        f" ORDER BY ts {direction}, arrival {direction}, id {direction} LIMIT {limit:d}",
        where.params,
        settings=PAGE,
    )
