"""Reads decoded JSON by exact types: true is no number, and "5" is none either."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from shared.foundation.core.errors import Invalid


def known_fields(path: str, value: object, names: Iterable[str]) -> dict[str, Any]:
    """Returns the known fields of an object, without those that are null.

    Raises `Invalid` naming the path unless it is an object.
    """
    if not isinstance(value, dict):
        raise Invalid.field(path, "must be an object")
    return {name: value[name] for name in names if value.get(name) is not None}


def items(path: str, value: object, *, most: int, least: int = 0) -> list[Any]:
    """Returns a list of `least` to `most` items; raises `Invalid` naming the path."""
    if not isinstance(value, list):
        raise Invalid.field(path, "must be a list")
    if not least <= len(value) <= most:
        bound = f"at most {most}" if least == 0 else f"{least} to {most}"
        raise Invalid.field(path, f"must have {bound} items")
    return value


def required_text(path: str, given: Mapping[str, Any], name: str) -> str:
    """Returns a text; raises `Invalid` naming the field if it is absent or no text."""
    text = text_or_none(path, given, name)
    if text is None:
        raise Invalid.field(f"{path}.{name}", "is missing")
    return text


def text_or_none(path: str, given: Mapping[str, Any], name: str) -> str | None:
    """Returns a text, or None without one; raises `Invalid` naming the field."""
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise Invalid.field(f"{path}.{name}", "must be a text")
    return value


def optional_number(path: str, given: Mapping[str, Any], name: str) -> int | float | None:
    """Returns a finite number, or None without one; raises `Invalid` naming the field."""
    value = given.get(name)
    return None if value is None else number(f"{path}.{name}", value)


def number(field: str, value: object) -> int | float:
    """Returns a finite number, a whole one as an int; raises `Invalid` naming the field."""
    if not is_number(value):
        raise Invalid.field(field, "must be a number")
    found: int | float = plain(value)
    return found


def is_number(value: object) -> bool:
    """Returns whether a value is a finite number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def plain(value: Any) -> Any:
    """Returns JSON whose whole numbers are ints: 1.0 and 1 are the same number.

    A float above 2^53 stays one: it stands for many whole numbers.
    """
    if isinstance(value, float) and value.is_integer() and abs(value) <= 2**53:
        return int(value)
    if isinstance(value, dict):
        return {name: plain(below) for name, below in value.items()}
    return [plain(below) for below in value] if isinstance(value, list) else value
