"""Counts, sums and bounds of events and sessions."""

import statistics
from collections import Counter

from tests.security.sql.answers.answer import Answer
from tests.security.sql.answers.slow import durations, is_error, tokens, written
from tests.security.sql.recorded import moment

ANSWERS: dict[str, Answer] = {
    "count": ("SELECT count() FROM events", [], lambda r: [[len(r.events)]]),
    "count-sessions": ("SELECT count() FROM agent_sessions", [], lambda r: [[len(r.sessions())]]),
    "by-type": (
        "SELECT event_type, count() FROM events GROUP BY event_type ORDER BY event_type",
        [],
        lambda r: sorted([name, len(events)] for name, events in r.by("type").items()),
    ),
    "by-tool": (
        (
            "SELECT tool_name, count() AS n FROM events WHERE tool_name IS NOT NULL GROUP BY 1"
            " ORDER BY n DESC, tool_name"
        ),
        [],
        lambda r: sorted(
            ([name, len(events)] for name, events in r.by("tool_name").items()),
            key=lambda row: (-row[1], row[0]),
        ),
    ),
    "sum-of-tokens": (
        "SELECT sum(input_tokens), sum(output_tokens) FROM events",
        [],
        lambda r: [[tokens(r.events, "input_tokens"), tokens(r.events, "output_tokens")]],
    ),
    "tokens-of-sessions": (
        "SELECT session_id, input_tokens, event_count FROM agent_sessions ORDER BY session_id",
        [],
        lambda r: [
            [session, tokens(events, "input_tokens"), len(events)]
            for session, events in sorted(r.sessions().items())
        ],
    ),
    "errors-of-sessions": (
        "SELECT session_id, error_count FROM agent_sessions WHERE error_count > 0 ORDER BY 1",
        [],
        lambda r: [
            [session, sum(map(is_error, events))]
            for session, events in sorted(r.sessions().items())
            if any(map(is_error, events))
        ],
    ),
    "bounds-of-sessions": (
        "SELECT session_id, started_at, last_event_at FROM agent_sessions ORDER BY session_id",
        [],
        lambda r: [
            [session, written(moment(events[0])), written(moment(events[-1]))]
            for session, events in sorted(r.sessions().items())
        ],
    ),
    "rate-of-errors": (
        "SELECT countIf(is_error) / count() FROM events",
        [],
        lambda r: [[sum(map(is_error, r.events)) / len(r.events)]],
    ),
    "error-types": (
        (
            "SELECT groupArray((error_type, n)) FROM (SELECT error_type, count() AS n FROM events"
            " WHERE error_type IS NOT NULL GROUP BY error_type ORDER BY error_type)"
        ),
        [],
        lambda r: [[sorted([k, len(v)] for k, v in r.by("error_type").items())]],
    ),
    "quantile-exact": (
        "SELECT quantileExactLow(0.5)(duration_ms), max(duration_ms), min(duration_ms) FROM events",
        [],
        lambda r: [[statistics.median_low(durations(r)), max(durations(r)), min(durations(r))]],
    ),
    "top-tool": (
        "SELECT topK(1)(tool_name)[1] FROM events",
        [],
        lambda r: [
            [Counter(e["tool_name"] for e in r.events if "tool_name" in e).most_common(1)[0][0]]
        ],
    ),
}
