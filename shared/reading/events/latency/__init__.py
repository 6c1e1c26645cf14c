"""Latencies of pairs of events, such as a tool's use and its result.

A pair is a starting and a closing event of one session. These rules apply:

Range. A pair counts where it starts: its start lies in [from, to). Every start of the range is then
either in a pair or unpaired, and neither edge loses any. The closing event is searched up to 24
hours after the range, so a default range, which ends now, reads nothing more. Starts of the hour
before the range are read as well, so that an event of the range is not taken for their close.

Pairs. In each session only paths count at which both starts and closes have values. An event's key
is its value at the first path at which an event of the other type has the same value. Two events
with different values at an earlier common path are still no pair: the first path that both have
decides. A number, boolean, object or array counts as its JSON text, an empty text as no value.
Events with the same key pair in order of time: a close takes the oldest open start, and a close
without one stays unpaired. If a session has exactly one start and one close with a key, they pair
even if the close is older, because the clocks of two machines may differ. Agents may differ. Events
without a key pair in the same way within their session and agent. Events of different sessions or
organizations never pair.

Latency. The closing event's `duration_ms`, else the difference of the timestamps, at least 0.

Filters. Each filter holds for a pair if it holds for one of its two events: `tool_name` may be in
the start and `error_type` in the close. An event without a partner has to meet all filters itself.
`outcome` uses the closing event's `is_error`. It selects pairs, but does not affect `events`: there
`start` and `end` count the events of the two types inside the range, paired or not, and
`unpaired_start` counts the starts without a close.

Distribution. A pair's key is its value at the first path that one of its events has, the closing
event's first. Pairs without any are `(none)`; values over 1024 bytes are ignored.
"""

from shared.reading.events.latency.aggregate import latency_aggregate
from shared.reading.events.latency.calls import Band, latency_calls
from shared.reading.events.latency.parameters import latency_query
from shared.reading.events.latency.query import LatencyQuery

__all__ = ["Band", "LatencyQuery", "latency_aggregate", "latency_calls", "latency_query"]
