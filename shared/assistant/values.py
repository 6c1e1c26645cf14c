"""Values as a model reads them: plain JSON, in which long texts are cut and say so."""

import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec

from shared.foundation.core.clock import format_ts

# The lengths of a text, in characters: in a list, and where one thing was asked for.
IN_LIST = 300
ALONE = 4000


def cut(text: str, most: int = IN_LIST) -> str:
    """Returns the beginning of a long text, followed by its length."""
    if len(text) <= most:
        return text
    return f"{text[:most]}… [cut: {most} of {len(text)} characters]"


def plain(value: object, most: int = IN_LIST) -> Any:
    """Returns a value as JSON can hold it, with each long text in it cut."""
    if isinstance(value, str):
        return cut(value, most)
    if isinstance(value, datetime):
        return format_ts(value)
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(one, most) for key, one in value.items()}
    if isinstance(value, msgspec.Struct):
        return plain(msgspec.structs.asdict(value), most)
    if isinstance(value, Iterable):
        return [plain(one, most) for one in value]
    return value


def number(amount: Decimal | None) -> float | None:
    """Returns an amount as a number of JSON."""
    return None if amount is None else float(amount)


def fields_of(row: object, names: Iterable[str], most: int = IN_LIST) -> dict[str, Any]:
    """Returns some attributes of a row; those without a value are left out."""
    found = {name: getattr(row, name) for name in names}
    return {name: plain(one, most) for name, one in found.items() if one is not None}
