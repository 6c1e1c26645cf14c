"""The values with which a tile runs its query: the tile's own, else those saved with the query.

Clients keep them as the texts that people typed: by number or by name in the tile's bindings
(`{"2": "7"}`), and in order in the query's parameters (`[{"name": "from", "value": ""}, …]`). The
web UI reads them in the same way on the SQL page (`web/ui/src/kit/results/parameters.ts`).
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from shared.foundation.core.clock import format_ts
from shared.reading.queries.service import MAX_PARAMS

_LIKE_JSON = re.compile(r"-?\d|[\"\[]|(?:true|false|null)$")
# Integers beyond it lose digits in a browser.
_SAFE_INTEGER = 2**53 - 1


def values_of(
    saved: Sequence[Mapping[str, object]],
    bindings: Mapping[str, object],
    start: datetime,
    end: datetime,
) -> list[object]:
    """Returns the values of `$1`, `$2`, …; parameters named `from` and `to` are the range.

    A number without a value between others is an empty text.
    """
    typed = {number: _text(one.get("value")) for number, one in enumerate(saved, 1)}
    named = {str(one["name"]): number for number, one in enumerate(saved, 1) if "name" in one}
    for key, value in bindings.items():
        number = int(key) if _is_number(key) else named.get(key)
        if number is not None:
            typed[number] = _text(value)
    values: list[object] = [
        _value(typed.get(number, "")) for number in range(1, max(typed, default=0) + 1)
    ]
    bounds = {"from": format_ts(start), "to": format_ts(end)}
    for index, one in enumerate(saved):
        name = one.get("name")
        if isinstance(name, str) and name in bounds:
            values[index] = bounds[name]
    return values


def _is_number(key: str) -> bool:
    return key.isascii() and key.isdecimal() and len(key) <= 3 and 0 < int(key) <= MAX_PARAMS


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else msgspec.json.encode(value).decode()


def _value(typed: str) -> object:
    """Returns numbers, true, false, null, arrays and quoted texts as JSON, all else as text."""
    text = typed.strip()
    if not _LIKE_JSON.match(text):
        return typed
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return typed
    is_integer = isinstance(value, int | float) and float(value).is_integer()
    return typed if is_integer and abs(value) > _SAFE_INTEGER else value
