"""The same statement with other values."""

from datetime import UTC, datetime

from tests.security.sql.answers.answer import Answer
from tests.security.sql.recorded import moment

NOON = datetime(2026, 11, 3, 12, tzinfo=UTC)

ANSWERS: dict[str, Answer] = {
    "since-noon": (
        "SELECT count() FROM events WHERE ts >= $1",
        ["2026-11-03T12:00:00.000000Z"],
        lambda r: [[sum(moment(event) >= NOON for event in r.events)]],
    ),
    "since-noon-elsewhere": (
        "SELECT count() FROM events WHERE ts >= $1",
        ["2026-11-03T13:00:00+01:00"],
        lambda r: [[sum(moment(event) >= NOON for event in r.events)]],
    ),
    "at-a-moment": (
        "SELECT count() FROM events WHERE ts = (SELECT max(ts) FROM events WHERE ts < $1)",
        ["2026-11-03T12:00:00Z"],
        lambda _: [[1]],
    ),
    "tool-with-quotes": (
        "SELECT count() FROM events WHERE tool_name = $1",
        ["say 'sorry'"],
        lambda r: [[len(r.by("tool_name")["say 'sorry'"])]],
    ),
    "tool-with-backslash": (
        "SELECT count() FROM events WHERE tool_name IN $1",
        [["e\\mail", "none"]],
        lambda r: [[len(r.by("tool_name")["e\\mail"])]],
    ),
    "optional-parameter-unset": (
        "SELECT count() FROM events WHERE $1 IS NULL OR environment = $1",
        [None],
        lambda r: [[len(r.events)]],
    ),
    "optional-parameter-set": (
        "SELECT count() FROM events WHERE $1 IS NULL OR environment = $1",
        ["staging"],
        lambda r: [[len(r.by("environment")["staging"])]],
    ),
    "has-parameter": (
        "SELECT count() FROM events WHERE has($1, tool_name)",
        [["book", "refund", None]],
        lambda r: [[sum(event.get("tool_name") in ("book", "refund", None) for event in r.events)]],
    ),
    "limit-parameter": (
        "SELECT session_id FROM agent_sessions ORDER BY session_id LIMIT $1 OFFSET $2",
        [2, 3],
        lambda _: [["session-03"], ["session-04"]],
    ),
}
