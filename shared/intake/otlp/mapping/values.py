"""Reads values of attributes, which may have any type wherever a sender makes a mistake.

Each function returns None for a value that says nothing.
"""

import re
from typing import Any

import msgspec

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# The value of a redacted key.
REDACTED = "[redacted]"
_LONGEST_NUMBER = 64
_NOT_JSON = (msgspec.MsgspecError, ValueError, RecursionError)
# The last value that was decoded, and its result.
_last: tuple[Any, Any] = (None, None)
_decode = msgspec.json.Decoder().decode


def text(value: Any) -> str | None:
    """Returns a text, or the digits of an integer."""
    if type(value) is str:
        return value or None
    if type(value) is int:
        return str(value)
    return None


def word(value: Any) -> str | None:
    """Returns a text, or the digits of an integer; None for the mark of a redacted value."""
    return None if value == REDACTED else text(value)


def count(value: Any) -> int | None:
    """Returns a number of at least 0, which may be a text or a float without fraction."""
    if type(value) is int:
        return value if value >= 0 else None
    if type(value) is float:
        return int(value) if value >= 0 and value.is_integer() else None
    if type(value) is str and len(value) < 20 and value.isascii() and value.isdecimal():
        return int(value)
    return None


def amount(value: Any) -> int | float | str | None:
    """Returns a number, or the text of one, as it was sent."""
    if type(value) is str and len(value) <= _LONGEST_NUMBER:
        try:
            float(value)
        except ValueError:
            return None
        return value
    return value if type(value) in (int, float) else None


def present(value: Any) -> Any:
    """Returns the value, but None for an empty text, list or object."""
    return value if value or value == 0 else None


def decoded(value: Any) -> Any:
    """Decodes the JSON text of an object, an array or a string; returns other values as they are.

    Text that does not parse stays as it is, and so do numbers, because `18` may be a text.
    """
    if type(value) is not str or value.lstrip()[:1] not in ("{", "[", '"'):
        return value
    try:
        return _decode(value)
    except _NOT_JSON:
        return value


def decoded_once(value: Any) -> Any:
    """Does the same as `decoded`, and remembers the result for the last text.

    Several rules read one text, each another member of it. None may change the result. Safe for
    several threads.
    """
    global _last
    decoded_text, result = _last
    if decoded_text is not value or type(value) is not str:
        result = decoded(value)
        _last = value, result
    return result


def clean(value: str, limit: int) -> str:
    """Turns control characters into `_` and cuts to `limit` characters."""
    cut = value[:limit]
    return cut if cut.isprintable() else _CONTROL.sub("_", cut)
