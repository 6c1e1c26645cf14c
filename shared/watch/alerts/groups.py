"""The groups for which a rule is evaluated one by one. Pure.

A group is the value of one field. Inside, "" is the group without a value: an empty text is none.
"""

from collections.abc import Mapping
from typing import Any

from shared.reading.dimensions.names import PREFIX, is_key

_WORDS = {
    "agent_id": "agent",
    "user_id": "user",
    "agent_version": "version",
    "environment": "environment",
    "model": "model",
}
FIELDS = tuple(_WORDS)
# So many incidents of a rule are open at once.
MOST_OPEN = 100


def is_field(name: str) -> bool:
    """Returns whether a rule may have groups by this field."""
    return name in _WORDS or (name.startswith(PREFIX) and is_key(name[len(PREFIX) :]))


def named(field: str, value: str) -> dict[str, str | None]:
    """Returns a group as incidents and answers have it."""
    return {field: value or None}


def value_in(group: Mapping[str, Any] | None) -> str:
    """Returns the value of such a group; "" without a group."""
    return next(iter((group or {}).values()), None) or ""


def words(field: str, value: str) -> str:
    """Returns a group in words: `user zoe`, `no user`."""
    word = _WORDS.get(field, field.removeprefix(PREFIX))
    return f"{word} {value}" if value else f"no {word}"
