"""The fields that a condition can ask about: one row each.

The checks, the SQL, the words and the description for other programs derive from the rows.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from shared.foundation.clickhouse.root_agent import FIRST_EVENT, root_agent

MAX_LEAVES, MAX_LEVELS, MAX_SEARCHES = 50, 5, 3
MAX_TEXTS, MAX_TEXT_CHARS = 100, 256
MIN_SEARCH_CHARS, MAX_SEARCH_CHARS = 3, 200
# No count is larger.
MAX_NUMBER = 1e18

ValueType = Literal["texts", "text", "number", "boolean"]
ENVIRONMENT, AGENTS = f"{FIRST_EVENT}.2", "groupUniqArrayArray(agents)"


class FieldKind(NamedTuple):
    """The operators of some fields, and the values that they take.

    `chars` are the fewest and the most characters of a text.
    """

    ops: tuple[str, ...]
    value: ValueType
    chars: tuple[int, int] = (1, MAX_TEXT_CHARS)


ONE_OF = FieldKind(("in", "not_in"), "texts")
OCCURS = FieldKind(("any_of", "all_of", "none_of"), "texts")
NUMBER = FieldKind((">", ">=", "<", "<=", "=="), "number")
FLAG = FieldKind(("is",), "boolean")
PREFIX = FieldKind(("prefix",), "text")
SEARCH = FieldKind(("contains",), "text", (MIN_SEARCH_CHARS, MAX_SEARCH_CHARS))


class ConditionField(NamedTuple):
    """A fact about a session.

    `noun` is its name in a sentence, in the plural for a number that a session `verb`. `of_session`
    is SQL of its value over the session's rows of `agent_sessions`. Otherwise the session's events
    decide: `of_events` is SQL of a number over them, or the column whose values occur. `which` is a
    condition that all events with a part in it meet, and that copies of an event meet alike.
    """

    name: str
    kind: FieldKind
    noun: str
    of_session: str = ""
    of_events: str = ""
    which: str = ""
    verb: str = "has"


_TABLE = (
    ConditionField("environment", ONE_OF, "environment", ENVIRONMENT),
    ConditionField("agent_id", ONE_OF, "root agent", root_agent()),
    ConditionField("outcome", ONE_OF, "outcome", which="event_type = 'agent_end'"),
    ConditionField("agents", OCCURS, "agent", AGENTS),
    ConditionField("event_types", OCCURS, "event type", of_events="event_type"),
    ConditionField("tool_names", OCCURS, "tool", of_events="tool_name"),
    ConditionField("models", OCCURS, "model", of_events="model"),
    ConditionField("hook_names", OCCURS, "hook", of_events="hook_name"),
    ConditionField("error_types", OCCURS, "error type", of_events="error_type"),
    ConditionField("event_count", NUMBER, "events", of_events="count()"),
    ConditionField(
        "error_count", NUMBER, "errors", of_events="countIf(is_error)", which="is_error"
    ),
    ConditionField("agent_count", NUMBER, "agents", f"length({AGENTS})"),
    ConditionField(
        "tool_failures",
        NUMBER,
        "failed tool calls",
        of_events="countIf(event_type = 'tool_result' AND is_error)",
        which="event_type = 'tool_result' AND is_error",
    ),
    ConditionField(
        "input_tokens", NUMBER, "input tokens", of_events="sum(coalesce(input_tokens, 0))"
    ),
    ConditionField(
        "output_tokens", NUMBER, "output tokens", of_events="sum(coalesce(output_tokens, 0))"
    ),
    ConditionField(
        "duration_secs",
        NUMBER,
        "seconds",
        "dateDiff('microsecond', min(started_at), max(last_event_at)) / 1000000",
        verb="lasts",
    ),
    ConditionField("ended", FLAG, "ended", f"mapContains(maxMap(agent_ends), {root_agent()})"),
    ConditionField("session_id", PREFIX, "session id", "session_id"),
    ConditionField("payload", SEARCH, "payload", of_events="payload"),
)
FIELDS: Mapping[str, ConditionField] = {field.name: field for field in _TABLE}


def described() -> dict[str, Any]:
    """Returns the bounds and the fields as plain data, for schemas and for a builder.

    `{"max_leaves", "max_levels", "max_searches", "fields": [{"name", "label", "ops", "value"}]}`;
    a value is `{"type": "number", "max"}`, `{"type": "boolean"}`, or a text or a list of texts
    with its bounds: `{"type": "texts", "max_items", "min_length", "max_length"}`.
    """
    return {
        "max_leaves": MAX_LEAVES,
        "max_levels": MAX_LEVELS,
        "max_searches": MAX_SEARCHES,
        "fields": [
            {
                "name": field.name,
                "label": field.noun,
                "ops": list(field.kind.ops),
                "value": _value(field.kind),
            }
            for field in FIELDS.values()
        ],
    }


def _value(kind: FieldKind) -> dict[str, Any]:
    if kind.value == "boolean":
        return {"type": kind.value}
    if kind.value == "number":
        return {"type": kind.value, "max": MAX_NUMBER}
    least, most = kind.chars
    items = {"max_items": MAX_TEXTS} if kind.value == "texts" else {}
    return {"type": kind.value, **items, "min_length": least, "max_length": most}
