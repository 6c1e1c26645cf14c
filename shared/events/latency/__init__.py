"""Latencies of pairs of events, such as a tool's use and its result.

A pair is a starting and a closing event of one session. These rules apply:

Range. A pair counts where it starts: its start lies in [from, to). Every start of the range is then
either in a pair or unpaired, and neither edge loses any. The closing event is looked for up to 24
hours after the range, so a default range, which ends now, reads nothing more. Starts of the hour
before the range are read as well, so that an event of the range is not taken for their close.

Pairs. In each session those paths count that starts and closes have there. An event's key is its
value at the first of them where an event of the other type has the same. Two that have different
values at an earlier path are no pair all the same: the first path that both have decides. A number,
boolean, object or array counts as its JSON text, an empty text as nothing. Events with the same key
pair in order of time: a close takes the oldest start that is open, and one that finds none is left
over. Where a session has one start and one close with a key, they pair even if the close is older,
as clocks of two machines may differ. Agents may differ. Events without a key pair in the same way
inside their session and agent. Nothing ever pairs across sessions or organizations.

Latency. The closing event's `duration_ms`, else the difference of the timestamps, at least 0.

Filters. Each holds for a pair if it holds for one of its two events: `tool_name` may stand in the
start and `error_type` in the close. An event without a partner has to meet them by itself.
`outcome` looks at the closing event's `is_error`; it chooses which pairs count, and leaves `events`
alone. There `start` and `end` are the events of the two types inside the range, in pairs or not,
and `unpaired_start` the starts that nothing closed.

Distribution. A pair's key is its value at the first path that one of its events has, the closing
event's first. Pairs without any are `(none)`; values over 1024 bytes are no names.
"""

from shared.events.latency.aggregate import latency_aggregate
from shared.events.latency.parameters import latency_query
from shared.events.latency.query import LatencyQuery

__all__ = ["LatencyQuery", "latency_aggregate", "latency_query"]
