"""SQL of the columns of an outline."""

from collections.abc import Mapping

from shared.foundation.clickhouse.where import us
from shared.reading.events.families import FAMILIES, NAMED

SUMMARY_CHARS = 80

# The column that has the name of an event, and the types of such events.
_NAMES = {**{family.group: family.types for family in NAMED}, "error_type": ("error",)}
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


_KEY = _by_type({_text(family.key): family.types for family in FAMILIES})
_FAMILY = _by_type({f"'{family.noun}'": family.types for family in FAMILIES})

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
    "cost_usd": "toFloat64(cost_usd)",
    "context_fill": "round(context_fill, 4)",
    "summary": f"substringUTF8(summary, 1, {SUMMARY_CHARS})",
}
