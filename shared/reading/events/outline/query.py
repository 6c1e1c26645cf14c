"""The request for a page of an outline."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from shared.foundation.core.cursor import decode_cursor, encode_cursor
from shared.foundation.core.errors import Invalid
from shared.reading.events.filters import EventFilters
from shared.reading.events.outline import watermark
from shared.reading.events.outline.columns import SELECTED
from shared.reading.events.outline.rows import OutlineKey, OutlinePlace
from shared.reading.events.outline.watermark import Watermark

DEFAULT_EVENTS, MAX_EVENTS = 20_000, 50_000

# Cursors come from clients, and ClickHouse binds no other numbers.
_Natural = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class OutlineFilters(EventFilters):
    """The filters of events; the session is in the path."""

    declared = tuple(one for one in EventFilters.declared if one.parameter != "session_id")


class _OutlineCursor(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    side: Literal["after", "before"]
    ts: _Natural
    arrival: _Natural
    id: _Natural


class OutlineQuery(msgspec.Struct, frozen=True, kw_only=True):
    """One page: the first `limit` events of `place`, around an event, or since a watermark."""

    filters: OutlineFilters
    columns: tuple[str, ...]
    limit: int
    place: OutlinePlace | None
    around: int | None
    since: Watermark | None


def outline_query(
    filters: OutlineFilters,
    *,
    columns: str | None = None,
    limit: int = DEFAULT_EVENTS,
    cursor: str | None = None,
    around: int | None = None,
    since: str | None = None,
) -> OutlineQuery:
    """Returns the query of these parameters.

    Raises `Invalid` for more than one of `cursor`, `around` and `since`, and for malformed ones.
    """
    given = {"around": around, "cursor": cursor, "since": since}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        reason = f"{' and '.join(named)} exclude each other"
        raise Invalid(reason, fields={name: [reason] for name in named})
    return OutlineQuery(
        filters=filters,
        columns=("id",) if columns == "id" else tuple(SELECTED),
        limit=limit,
        place=None if cursor is None else _read(cursor),
        around=around,
        since=None if since is None else watermark.read(since),
    )


def cursor_of(side: Literal["after", "before"], key: OutlineKey) -> str:
    """Returns the cursor of the page after or before an event."""
    return encode_cursor((side, *key))


def _read(cursor: str) -> OutlinePlace:
    found = decode_cursor(cursor, _OutlineCursor)
    return OutlinePlace(found.side, OutlineKey(found.ts, found.arrival, found.id))
