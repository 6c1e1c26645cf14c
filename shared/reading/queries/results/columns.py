"""Reads columns in ClickHouse's native format.

The driver's own columns are not used: they lose the time zone of a DateTime and the names in a
tuple, and 64 MiB of an array of tuples become gigabytes of Python objects. Here the number of
values in a result is limited too, and an unknown type causes an error that names it.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address
from itertools import pairwise
from typing import Any, Protocol

import msgspec

from shared.reading.queries.results import values
from shared.reading.queries.results.type_names import Arg, Type, parse

# A value takes 8 to 70 bytes of memory, plus its text.
MAX_VALUES = 2_000_000
# The same limit as for statements. An expression can create a type name of a megabyte, which takes
# seconds to parse.
_MAX_TYPE_CHARS = 8000


class Unreadable(Exception):
    """The type of a column, or the format in which it was sent, is unknown here."""


class TooManyValues(Exception):
    """A result has more than `MAX_VALUES` values, including the elements of arrays and maps."""


class Buffer(Protocol):
    """The source of the bytes: the driver's buffered socket."""

    def read(self, size: int, /) -> bytes:
        """Reads exactly that many bytes."""

    def read_strings(self, count: int, /) -> Sequence[bytes]:
        """Reads that many strings, each preceded by its length."""


class ValueBudget:
    """The number of values that a result may still have."""

    def __init__(self, most: int = MAX_VALUES) -> None:
        self._left = most

    def spend(self, count: int) -> None:
        """Subtracts from the budget before values are created; raises `TooManyValues`."""
        self._left -= count
        if self._left < 0:
            raise TooManyValues


Read = Callable[[int, Buffer, ValueBudget], list[Any]]


class ColumnReader:
    """A reader for the values of a type: `read_prefix` once per block, then `read`."""

    def __init__(self, read: Read, *below: "ColumnReader", has_version: bool = False) -> None:
        self.read = read
        self._below = below
        self._has_version = has_version

    def read_prefix(self, buffer: Buffer) -> None:
        """Reads the bytes before the values; raises `Unreadable` for an unknown format."""
        if self._has_version and buffer.read(8) != _VERSION:
            raise Unreadable
        for column in self._below:
            column.read_prefix(buffer)


# For LowCardinality, and for JSON that is sent as text.
_VERSION = struct.pack("<Q", 1)


def column_of(type_: str) -> ColumnReader:
    """Returns the reader for a type name; raises `Unreadable`."""
    if len(type_) > _MAX_TYPE_CHARS:
        raise Unreadable
    try:
        return _column(parse(type_))
    except (ValueError, IndexError, KeyError, StopIteration):
        raise Unreadable(type_) from None


def _fixed(code: str, convert: Callable[[Any], object] | None = None) -> ColumnReader:
    """Returns a reader for values of a width that `struct` knows."""

    def read(count: int, buffer: Buffer, budget: ValueBudget) -> list[Any]:
        budget.spend(count)
        form = struct.Struct(f"<{count}{code}")
        found = form.unpack(buffer.read(form.size))
        return list(found) if convert is None else list(map(convert, found))

    return ColumnReader(read)


def _wide(size: int, convert: Callable[[bytes], object]) -> ColumnReader:
    """Returns a reader for values of any other width."""

    def read(count: int, buffer: Buffer, budget: ValueBudget) -> list[Any]:
        budget.spend(count)
        data = buffer.read(size * count)
        return [convert(data[at : at + size]) for at in range(0, size * count, size)]

    return ColumnReader(read)


def _read_texts(count: int, buffer: Buffer, budget: ValueBudget) -> list[Any]:
    budget.spend(count)
    return list(map(values.text, buffer.read_strings(count)))


def _read_json(count: int, buffer: Buffer, budget: ValueBudget) -> list[Any]:
    return [msgspec.Raw(text.encode()) for text in _read_texts(count, buffer, budget)]


def _read_ends(count: int, buffer: Buffer, budget: ValueBudget) -> tuple[int, ...]:
    """Reads the end of each row's elements, with a 0 in front; each row counts as a value."""
    budget.spend(count)
    return (0, *struct.unpack(f"<{count}Q", buffer.read(8 * count)))


def _decimal(type_: Type) -> ColumnReader:
    precision, scale = (int(arg.literal) for arg in type_.args)
    size = next(size for size, most in ((4, 9), (8, 18), (16, 38), (32, 76)) if precision <= most)
    return _wide(size, values.decimal(scale))


def _enum(type_: Type) -> ColumnReader:
    names = {int(arg.literal): arg.label for arg in type_.args}
    return _fixed("b" if type_.name == "Enum8" else "h", lambda number: names.get(number, ""))


def _nullable(type_: Type) -> ColumnReader:
    inner = _argument(type_)

    def read(count: int, buffer: Buffer, budget: ValueBudget) -> list[Any]:
        nulls = buffer.read(count)
        found = inner.read(count, buffer, budget)
        return [None if null else value for null, value in zip(nulls, found, strict=True)]

    return ColumnReader(read, inner)


def _array(inner: ColumnReader) -> ColumnReader:
    def read(count: int, buffer: Buffer, budget: ValueBudget) -> list[Any]:
        ends = _read_ends(count, buffer, budget)
        found = inner.read(ends[-1], buffer, budget) if ends[-1] else []
        return [found[start:end] for start, end in pairwise(ends)]

    return ColumnReader(read, inner)


def _map(type_: Type) -> ColumnReader:
    keys, inner = (_column(_type_of(arg)) for arg in type_.args)

    def read(count: int, buffer: Buffer, budget: ValueBudget) -> list[Any]:
        ends = _read_ends(count, buffer, budget)
        total = ends[-1]
        names = list(map(values.key, keys.read(total, buffer, budget))) if total else []
        found = inner.read(total, buffer, budget) if total else []
        return [
            dict(zip(names[start:end], found[start:end], strict=True))
            for start, end in pairwise(ends)
        ]

    return ColumnReader(read, keys, inner)


def _tuple(type_: Type) -> ColumnReader:
    columns = [_column(_type_of(arg)) for arg in type_.args]
    labels = [arg.label for arg in type_.args]

    def read(count: int, buffer: Buffer, budget: ValueBudget) -> list[Any]:
        budget.spend(count)
        if not columns:
            buffer.read(count)
            return [[] for _ in range(count)]
        rows = zip(*[column.read(count, buffer, budget) for column in columns], strict=True)
        if None in labels:
            return list(map(list, rows))
        return [dict(zip(labels, row, strict=True)) for row in rows]

    return ColumnReader(read, *columns)


def _low_cardinality(type_: Type) -> ColumnReader:
    inner = _type_of(type_.args[0])
    nullable = inner.name == "Nullable"
    column = _argument(inner) if nullable else _column(inner)

    def read(count: int, buffer: Buffer, budget: ValueBudget) -> list[Any]:
        budget.spend(count)
        form, size = struct.unpack("<QQ", buffer.read(16))
        dictionary = column.read(size, buffer, budget)
        if nullable:
            dictionary[0] = None
        [rows] = struct.unpack("<Q", buffer.read(8))
        indexes = struct.Struct(f"<{rows}{'BHIQ'[form & 0xFF]}")
        return [dictionary[index] for index in indexes.unpack(buffer.read(indexes.size))]

    return ColumnReader(read, has_version=True)


def _argument(type_: Type) -> ColumnReader:
    [arg] = type_.args
    return _column(_type_of(arg))


def _type_of(arg: Arg) -> Type:
    if arg.type is None:
        raise ValueError(f"{arg.literal} is not a type")
    return arg.type


_PLAIN: Mapping[str, Callable[[], ColumnReader]] = {
    "Bool": lambda: _fixed("?"),
    "Int8": lambda: _fixed("b"),
    "Int16": lambda: _fixed("h"),
    "Int32": lambda: _fixed("i"),
    "Int64": lambda: _fixed("q", values.integer),
    "Int128": lambda: _wide(16, values.wide_integer(signed=True)),
    "Int256": lambda: _wide(32, values.wide_integer(signed=True)),
    "UInt8": lambda: _fixed("B"),
    "UInt16": lambda: _fixed("H"),
    "UInt32": lambda: _fixed("I"),
    "UInt64": lambda: _fixed("Q", values.integer),
    "UInt128": lambda: _wide(16, values.wide_integer(signed=False)),
    "UInt256": lambda: _wide(32, values.wide_integer(signed=False)),
    "BFloat16": lambda: _wide(2, values.bfloat),
    "Float32": lambda: _fixed("f", values.number),
    "Float64": lambda: _fixed("d", values.number),
    "String": lambda: ColumnReader(_read_texts),
    "UUID": lambda: _wide(16, values.uuid),
    "IPv4": lambda: _fixed("I", lambda value: str(IPv4Address(value))),
    "IPv6": lambda: _wide(16, lambda data: str(IPv6Address(data))),
    "Date": lambda: _fixed("H", values.day),
    "Date32": lambda: _fixed("i", values.day),
    "Time": lambda: _fixed("i", values.clock(0)),
    "Nothing": lambda: _fixed("B", lambda _: None),
    "Point": lambda: column_of("Tuple(Float64, Float64)"),
    "Ring": lambda: column_of("Array(Point)"),
    "LineString": lambda: column_of("Array(Point)"),
    "MultiLineString": lambda: column_of("Array(LineString)"),
    "Polygon": lambda: column_of("Array(Ring)"),
    "MultiPolygon": lambda: column_of("Array(Polygon)"),
}

# Each receives the type with its arguments.
_MADE: Mapping[str, Callable[[Type], ColumnReader]] = {
    # A moment is sent as seconds since the epoch, with or without a time zone.
    "DateTime": lambda _: _fixed("I", values.moment(1)),
    "DateTime64": lambda type_: _fixed("q", values.moment(10 ** int(type_.args[0].literal))),
    "Time64": lambda type_: _fixed("q", values.clock(int(type_.args[0].literal))),
    "FixedString": lambda type_: _wide(int(type_.args[0].literal), values.text),
    "Decimal": _decimal,
    "Enum8": _enum,
    "Enum16": _enum,
    "Nullable": _nullable,
    "LowCardinality": _low_cardinality,
    "Array": lambda type_: _array(_argument(type_)),
    "Nested": lambda type_: _array(_tuple(type_)),
    "Tuple": _tuple,
    "Map": _map,
    "JSON": lambda _: ColumnReader(_read_json, has_version=True),
    "SimpleAggregateFunction": lambda type_: _column(_type_of(type_.args[-1])),
}


def _column(type_: Type) -> ColumnReader:
    if type_.name in _MADE:
        return _MADE[type_.name](type_)
    if type_.name.startswith("Interval"):
        return _fixed("q", values.integer)
    return _PLAIN[type_.name]()
