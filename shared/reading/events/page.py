"""Pages of events: the newest (or oldest) matching rows, exact despite duplicates.

A bound on time keeps a page fast on a large table (`shared.foundation.clickhouse.slices`).
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from shared.foundation.clickhouse import ClickHouse, Row
from shared.foundation.clickhouse.event_columns import ORDER, ORDER_KEY, SELECT_KEY, TABLE
from shared.foundation.clickhouse.rewriting import merged
from shared.foundation.clickhouse.settings import PAGE, SMALL_PAGE
from shared.foundation.clickhouse.slices import (
    FUTURE_US,
    HOUR_US,
    Slices,
    TimeRange,
    newest_event,
    within_hours,
)
from shared.foundation.clickhouse.where import Where, moment, us
from shared.foundation.core.clock import now_us, to_us
from shared.foundation.core.cursor import Page, decode_cursor, encode_cursor
from shared.foundation.core.page_bytes import how_many_fit
from shared.reading.dimensions import few
from shared.reading.dimensions.effective import filled
from shared.reading.events import payloads
from shared.reading.events.filters import EventFilters

# Cursors come from clients, and ClickHouse accepts no sign in an unsigned column.
_Natural = Annotated[int, Meta(ge=0)]


class EventKey(msgspec.Struct, array_like=True):
    """The end of a page: the sort key of its last row."""

    ts: _Natural
    arrival: _Natural
    id: _Natural


# The first slice. A filtered page needs a larger range to fill up; a session is mostly read whole.
_ALL_US = HOUR_US // 6
_FILTERED_US = 4 * HOUR_US
_SESSION_US = 24 * HOUR_US


# The selected expressions of columns that are not read directly.
_SELECTED = {"ts": us("ts"), payloads.COLUMN: payloads.SMALL}


def read_page(
    clickhouse: ClickHouse,
    org_id: str,
    columns: tuple[str, ...],
    filters: EventFilters,
    *,
    ascending: bool,
    cursor: str | None,
    limit: int,
    effective: bool = False,
) -> Page[Row]:
    """Returns one page of `columns`, newest first unless `ascending`.

    With `effective` an event without a user or a version has those of its session. The page ends
    before `limit` if the payloads together would be larger than `MAX_PAGE_BYTES`. Raises `Invalid`
    for a cursor that this list did not issue.
    """
    after = decode_cursor(cursor, EventKey) if cursor is not None else None
    sessions = None if filters.session_ids else few.of_events(clickhouse, org_id, filters)
    span = _span(clickhouse, org_id, filters, after, sessions, ascending=ascending)
    found: list[Row] = []
    slices = Slices(
        span,
        wanted=limit + 1,
        first_us=_SESSION_US if sessions else _first_slice(filters),
        newest=lambda: newest_event(clickhouse, org_id),
        ascending=ascending,
    )
    for piece in slices:
        wanted = limit + 1 - len(found)
        rows = _read(
            clickhouse,
            columns,
            _where(org_id, filters, sessions),
            piece,
            after,
            ascending=ascending,
            limit=wanted,
            settings=SMALL_PAGE if filters.session_ids or sessions else PAGE,
        )
        slices.found(len(rows))
        found += rows
    shown = found[:limit]
    if payloads.COLUMN in columns:
        shown = shown[: how_many_fit([row[payloads.WEIGHT] for row in shown])]
    next_cursor = encode_cursor(shown[-1][-3:]) if len(shown) < len(found) else None
    if payloads.COLUMN in columns:
        shown = payloads.add_large(clickhouse, org_id, shown, columns.index(payloads.COLUMN))
    rows = [row[: len(columns)] for row in shown]
    if effective:
        rows = filled(clickhouse, org_id, columns, rows, sessions and sessions.firsts)
    return Page(rows, next_cursor)


def _span(
    clickhouse: ClickHouse,
    org_id: str,
    filters: EventFilters,
    after: EventKey | None,
    sessions: few.FewSessions | None,
    *,
    ascending: bool,
) -> TimeRange:
    """Returns the range of the rest of the list: the filter's, from the cursor on."""
    start = to_us(filters.ts_from) if filters.ts_from else 0
    stop = to_us(filters.ts_to) if filters.ts_to else now_us() + FUTURE_US
    if after is not None and ascending:
        start = max(start, after.ts)
    elif after is not None:
        stop = min(stop, after.ts + 1)
    if sessions is not None:
        return TimeRange(max(start, sessions.span.start), min(stop, sessions.span.stop))
    if filters.session_ids:
        known = _sessions_span(clickhouse, org_id, filters.session_ids)
        return TimeRange(max(start, known.start), min(stop, known.stop))
    if ascending and start == 0:
        start = _oldest(clickhouse, org_id)
    return TimeRange(start, stop)


def _sessions_span(clickhouse: ClickHouse, org_id: str, session_ids: Sequence[str]) -> TimeRange:
    [(start, stop)] = clickhouse.rows(
        f"SELECT {us('min(started_at)')}, {us('max(last_event_at)')} + 1 FROM agent_sessions"
        " WHERE org_id = {org_id:String} AND session_id IN {session_ids:Array(String)}",
        {"org_id": org_id, "session_ids": session_ids},
        settings=SMALL_PAGE,
    )
    return TimeRange(start, stop)


def _oldest(clickhouse: ClickHouse, org_id: str) -> int:
    rows = clickhouse.rows(
        f"SELECT {us('ts')} FROM {TABLE} WHERE org_id = {{org_id:String}} ORDER BY ts LIMIT 1",
        {"org_id": org_id},
    )
    return int(rows[0][0]) if rows else 0


def _first_slice(filters: EventFilters) -> int:
    if filters.session_ids:
        return _SESSION_US
    return _FILTERED_US if filters.replace(ts_from=None, ts_to=None) else _ALL_US


def _where(org_id: str, filters: EventFilters, sessions: few.FewSessions | None) -> Where:
    """Returns the conditions of the filters, of effective values by the sessions that have them."""
    if sessions is None:
        return filters.where(org_id)
    others = filters.replace(session_id=list(sessions.ranges), **dict.fromkeys(sessions.of_first))
    where = others.where(org_id)
    within_hours(where, "ts", list(sessions.ranges.values()))
    few.add_effective(where, sessions, filters)
    return where


def _read(
    clickhouse: ClickHouse,
    columns: tuple[str, ...],
    where: Where,
    piece: TimeRange,
    after: EventKey | None,
    *,
    ascending: bool,
    limit: int,
    settings: Mapping[str, object],
) -> list[Row]:
    # Copies of a row agree in most filtered columns. Such filters apply before copies are merged,
    # and other columns are read only for rows that pass. Copies differ in `arrival`, and the cursor
    # has the first one: whether a row follows the cursor is decided on merged rows.
    where.within("ts", piece.start, piece.stop)
    rest = []
    if after is not None:
        rest.append(
            f"{ORDER_KEY} {'>' if ascending else '<'}"
            f" ({moment('after_ts')}, {{after_arrival:UInt64}}, {{after_id:UInt64}})"
        )
        where.params.update(after_ts=after.ts, after_arrival=after.arrival, after_id=after.id)
    direction = "ASC" if ascending else "DESC"
    order = ", ".join(f"{name} {direction}" for name in ORDER)
    chosen = [_SELECTED.get(name, name) for name in columns]
    weight = payloads.SIZE if payloads.COLUMN in columns else "0"
    return clickhouse.rows(
        f"SELECT {', '.join(chosen)}, {weight}, {SELECT_KEY}"
        f" FROM {TABLE} {merged(where, *rest)}"
        f" ORDER BY {order} LIMIT {limit:d}",
        where.params,
        settings=settings,
    )
