"""SQL of the columns of an outline."""

from collections.abc import Mapping

from shared.foundation.clickhouse.where import us

SUMMARY_CHARS = 80

# The column that has the name of an event, and the types of such events.
_NAMES = {
    "tool_name": ("tool_use", "tool_result"),
    "hook_name": ("hook_triggered", "hook_completed"),
    "model": ("model_request", "model_response"),
    "error_type": ("error",),
}
# A family of pairs → the column of the key that a start and its close share, and their types.
_FAMILIES = {
    "tool": ("tool_call_id", ("tool_use", "tool_result")),
    "model": ("request_id", ("model_request", "model_response")),
    "hook": ("hook_id", ("hook_triggered", "hook_completed")),
    "human": ("input_id", ("human_wait", "human_input")),
    "pause": ("pause_id", ("agent_pause", "agent_resume")),
    "agent": ("agent_id", ("agent_start", "agent_end")),
}
# JavaScript has exact integers of 53 bits.
_MASK = 2**53 - 1


def _text(column: str) -> str:
    return f"ifNull(toString({column}), '')"


def _by_type(values: Mapping[str, tuple[str, ...]]) -> str:
    """Returns SQL of a text that depends on the type of the event, '' for other types."""
    cases = [
        f"event_type IN ({', '.join(map(repr, types))}), {value}" for value, types in values.items()
    ]
    return f"multiIf({', '.join(cases)}, '')"


_KEY = _by_type({_text(column): types for column, types in _FAMILIES.values()})
_FAMILY = _by_type({f"'{family}'": types for family, (_, types) in _FAMILIES.items()})

# A column of the answer → its SQL. Texts of `type`, `agent` and `name` become positions in lists.
SELECTED = {
    "id": "id",
    "t": us("ts"),
    "type": "event_type",
    "agent": "agent_id",
    "name": _by_type({_text(column): types for column, types in _NAMES.items()}),
    "pair": (f"if({_KEY} = '', 0, greatest(bitAnd(cityHash64({_FAMILY}, {_KEY}), {_MASK:d}), 1))"),
    "duration_ms": "duration_ms",
    "error": "toUInt8(is_error)",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "context_fill": "round(context_fill, 4)",
    "summary": f"substringUTF8(summary, 1, {SUMMARY_CHARS})",
}
