"""Bounds of values in a request, checked before they are stored."""

import json
import unicodedata
from collections.abc import Collection
from typing import Any

from shared.foundation.core.errors import Invalid

# Flags, emoji families and several scripts use these, but Python counts them as not printable.
_JOINERS = str.maketrans("", "", "\u200c\u200d")
_LINE_BREAKS = "\n\r\t"
# Far below the depth that Python and PostgreSQL can handle.
_MAX_DEPTH = 64


def require_name(field: str, text: str, *, most: int) -> str:
    """Returns the text without surrounding blanks: 1 to `most` printable characters on one line.

    Raises `Invalid` naming the field.
    """
    trimmed = require_line(field, text, most=most)
    if not trimmed:
        raise Invalid.field(field, "must not be empty")
    return trimmed


def require_line(field: str, text: str, *, most: int) -> str:
    """Does the same as `require_name`, but allows an empty text."""
    trimmed = text.strip()
    if len(trimmed) > most:
        raise Invalid.field(field, f"must have at most {most} characters")
    if not trimmed.translate(_JOINERS).isprintable():
        raise Invalid.field(field, "must not contain control characters or line breaks")
    return trimmed


def require_text(field: str, text: str, *, most: int) -> str:
    """Returns the text unchanged: at most `most` characters on any number of lines.

    Raises `Invalid` naming the field.
    """
    if len(text) > most:
        raise Invalid.field(field, f"must have at most {most} characters")
    if any(unicodedata.category(one) == "Cc" and one not in _LINE_BREAKS for one in text):
        raise Invalid.field(field, "must not contain control characters")
    return text


def require_optional_text(field: str, text: str | None, *, most: int) -> str | None:
    """Does the same as `require_text`, but allows None."""
    return None if text is None else require_text(field, text, most=most)


def require_one_of(field: str, value: str, options: Collection[str]) -> str:
    """Returns the value if it is one of the options; raises `Invalid` naming the field."""
    if value not in options:
        raise Invalid.field(field, f"must be one of {', '.join(options)}")
    return value


def require_between(field: str, value: int, *, least: int, most: int) -> int:
    """Returns the value if it is from `least` to `most`; raises `Invalid` naming the field."""
    if not least <= value <= most:
        raise Invalid.field(field, f"must be from {least} to {most}")
    return value


def require_opaque(field: str, value: Any, *, most: int) -> int:
    """Returns the size in bytes of a decoded JSON value as PostgreSQL's `json` in ASCII.

    Raises `Invalid` naming the field if the value has more than `most` bytes or is nested too
    deeply.
    """
    level = [value]
    for _ in range(_MAX_DEPTH):
        level = [below for one in level for below in _members(one)]
    if level:
        raise Invalid.field(field, f"must be nested at most {_MAX_DEPTH} levels deep")
    size = len(json.dumps(value))
    if size > most:
        raise Invalid.field(field, f"must have at most {most} bytes as JSON in ASCII")
    return size


def _members(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
