"""The watermark of an outline: the place up to which a client has the events of a session.

Events are stored in another order than they arrived. A watermark therefore never passes the moment
before which all events are surely stored, as windows of alerts do. What arrived after it is sent
again and again until that moment has passed it, so clients drop events that they know.

A body that takes long to read is the exception: its events have the moment at which reading began,
and come into the backlog only at its end. So a watermark also has the number of the events below
it. If there are more of them later, everything is sent again.
"""

from typing import Annotated

import msgspec
import redis
from msgspec import Meta

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.event_columns import POSITION_BITS, TABLE
from shared.foundation.clickhouse.settings import SMALL_PAGE
from shared.foundation.clickhouse.where import Where
from shared.foundation.core.clock import to_us
from shared.foundation.core.cursor import decode_cursor, encode_cursor
from shared.foundation.core.errors import Unavailable
from shared.foundation.queue.waiting import stored_until_each

# Watermarks come from clients, and ClickHouse binds no other numbers.
_Natural = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class Watermark(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A client has the `count` events that arrived before `sure`, and all before the position.

    The position is an arrival and an id. It lies behind `sure` while a client catches up in several
    steps: only then it may pass `sure`, and goes back to it at the end.
    """

    sure: _Natural
    count: _Natural
    arrival: _Natural
    id: _Natural

    @property
    def position(self) -> tuple[int, int]:
        """The first place of events that the client does not have."""
        return self.arrival, self.id


_COUNTS = f"""
SELECT countIf(arrival < {{{{before:UInt64}}}}), countIf(arrival < {{{{now:UInt64}}}})
FROM {TABLE} FINAL PREWHERE {{where}}
"""


def read(text: str) -> Watermark:
    """Returns a client's watermark; raises `Invalid` naming `since` if it is not one of ours."""
    return decode_cursor(text, Watermark, parameter="since", noun="watermark")


def write(mark: Watermark, rest: tuple[int, int] | None) -> str:
    """Returns the watermark as clients get it, at the position of the rest if there is any."""
    arrival, event_id = (mark.sure, 0) if rest is None else rest
    return encode_cursor((mark.sure, mark.count, arrival, event_id))


def stored_arrivals(client: redis.Redis, org_id: str) -> int:
    """Returns the arrival before which all events are stored, 0 while Redis is down.

    It holds for what is read afterwards.
    """
    try:
        [stored_until] = stored_until_each(client, [org_id])
    except Unavailable:
        # Reads go on without Redis. The watermark just stays where it is.
        return 0
    return max(to_us(stored_until) // 1000, 0) << POSITION_BITS


def advance(
    clickhouse: ClickHouse, of_session: Where, sure: int, since: Watermark | None
) -> Watermark:
    """Returns the watermark of an answer that is about to be read, with the position to read from.

    `sure` is that of `stored_arrivals`.
    """
    before = 0 if since is None else since.sure
    # Stored events stay stored, even if Redis can no longer confirm it.
    sure = max(sure, before)
    [(known, count)] = clickhouse.rows(
        _COUNTS.format(where=of_session),
        {**of_session.params, "before": before, "now": sure},
        settings=SMALL_PAGE,
    )
    if since is None or known > since.count:
        return Watermark(sure, count, 0, 0)
    if since.position != (since.sure, 0):
        # It catches up. What was sure at the first step is what it has at the end.
        return since
    return Watermark(sure, count, *since.position)
