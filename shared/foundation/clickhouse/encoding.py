"""Columns in ClickHouse's native format that are made as a whole.

clickhouse-driver asks for each value of a nullable column several times, and whether a time is a
number. That took a third of its part of an insert. It still writes all other types.
"""

import struct
from collections.abc import Callable, Sequence
from typing import Any

from clickhouse_driver.streams import native

Values = Sequence[Any]
Encode = Callable[[Values], bytes]


def _numbers(code: str) -> Encode:
    return lambda values: struct.pack(f"<{len(values)}{code}", *values)


def _nullable_numbers(code: str) -> Encode:
    encode = _numbers(code)
    return lambda values: _nulls(values) + encode([0 if v is None else v for v in values])


def _nullable_strings(values: Values) -> bytes:
    packed = [b"\0" if value is None else _packed(value) for value in values]
    return _nulls(values) + b"".join(packed)


def _nullable_amounts(values: Values) -> bytes:
    packed = [_NOTHING if v is None else v.to_bytes(16, "little", signed=True) for v in values]
    return _nulls(values) + b"".join(packed)


def _one_name(values: Values) -> bytes:
    """Encodes a dictionary with one word; raises `ValueError` if there are more.

    Most blocks have one organization, one environment and one agent.
    """
    # The first values decide quickly about most other columns.
    [_] = set(values[:100])
    [word] = set(values)
    dictionary = struct.pack("<qqq", 1, _OWN_DICTIONARY, 1) + _packed(word)
    return dictionary + struct.pack("<q", len(values)) + bytes(len(values))


def _nulls(values: Values) -> bytes:
    return bytes([value is None for value in values])


def _packed(value: str) -> bytes:
    raw = value.encode()
    return (_SHORT[len(raw)] if len(raw) < len(_SHORT) else _length(len(raw))) + raw


def _length(number: int) -> bytes:
    """Returns a number in seven bits a byte, the lowest ones first."""
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


# The lengths that take one byte; those of identifiers do.
_SHORT = [_length(number) for number in range(0x80)]
_NOTHING = bytes(16)
# The dictionary is that of this block alone, and a place in it takes one byte.
_OWN_DICTIONARY = 1 << 9 | 1 << 10
_ENCODERS: dict[str, Encode] = {
    "DateTime64(6, 'UTC')": _numbers("q"),
    "LowCardinality(String)": _one_name,
    # Integers of 1e-12; the driver also takes Decimal.
    "Nullable(Decimal(38, 12))": _nullable_amounts,
    "Nullable(Float64)": _nullable_numbers("d"),
    "Nullable(String)": _nullable_strings,
    "Nullable(UInt32)": _nullable_numbers("I"),
}
_write_by_value = native.write_column


def _write_column(
    context: Any, name: str, spec: str, values: Values, buffer: Any, types_check: bool = False
) -> None:
    try:
        encoded = _ENCODERS[spec](values)
    except (KeyError, AttributeError, OverflowError, struct.error, ValueError):
        # The driver knows more kinds of values, such as datetimes, and its errors name the column.
        _write_by_value(context, name, spec, values, buffer, types_check)
    else:
        buffer.write(encoded)


def install() -> None:
    """Lets the driver write columns with these encoders, in the whole process."""
    native.write_column = _write_column
