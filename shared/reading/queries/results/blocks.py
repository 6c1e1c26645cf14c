"""Blocks of rows, read from a connection of clickhouse-driver."""

import struct
from typing import Any, NamedTuple

from clickhouse_driver.block import BlockInfo
from clickhouse_driver.bufferedreader import BufferedSocketReader
from clickhouse_driver.reader import read_binary_str
from clickhouse_driver.varint import read_varint

from shared.reading.queries.results.columns import ColumnReader, Unreadable, ValueBudget, column_of

_PLAIN, _SPARSE = b"\0", b"\1"
# Marks the last group of rows of a sparse column.
_LAST_GROUP = 1 << 62


class ResultBlock(NamedTuple):
    """The columns of some rows: (name, type) of each, and the values of each, of equal length."""

    columns: list[tuple[str, str]]
    values: list[list[Any]]


class UnreadableColumn(Exception):
    """The type of a column is unknown here; the connection is in the middle of its data."""

    def __init__(self, name: str, type_: str) -> None:
        super().__init__(name, type_)
        self.name = name
        self.type = type_


class Blocks:
    """A replacement of the driver's own reader of blocks; `budget` belongs to one result."""

    def __init__(self, buffer: BufferedSocketReader) -> None:
        self._buffer = buffer
        self.budget = ValueBudget()

    def read(self, use_numpy: bool | None = None) -> ResultBlock:  # noqa: ARG002 the driver passes it
        """Reads the next block.

        Raises `UnreadableColumn`, `TooManyValues`, and the errors of the connection.
        """
        BlockInfo().read(self._buffer)
        width, height = read_varint(self._buffer), read_varint(self._buffer)
        block = ResultBlock([], [])
        for _ in range(width):
            name, type_ = read_binary_str(self._buffer), read_binary_str(self._buffer)
            form = self._buffer.read(1)
            block.columns.append((name, type_))
            try:
                block.values.append(self._values(type_, height, custom=form != _PLAIN))
            except (Unreadable, struct.error, ValueError, OverflowError, LookupError):
                raise UnreadableColumn(name, type_) from None
        return block

    def _values(self, type_: str, count: int, *, custom: bool) -> list[Any]:
        if not count:
            return []
        form = self._buffer.read(1) if custom else _PLAIN
        # The elements of a tuple have formats of their own, and nulls are sparse in another way.
        if custom and type_.startswith("Tuple"):
            raise Unreadable
        if form not in (_PLAIN, _SPARSE) or (form == _SPARSE and type_.startswith("Nullable")):
            raise Unreadable
        column = column_of(type_)
        column.read_prefix(self._buffer)
        if form == _PLAIN:
            return column.read(count, self._buffer, self.budget)
        return self._sparse(column, count)

    def _sparse(self, column: ColumnReader, count: int) -> list[Any]:
        """Reads a column that mostly has its default value: positions first, then values."""
        places = []
        at = 0
        while True:
            gap = read_varint(self._buffer)
            if gap & _LAST_GROUP:
                break
            at += gap
            places.append(at)
            at += 1
        self.budget.spend(count)
        [default] = column.read(1, _Zeros(), self.budget)
        values = [default] * count
        found = column.read(len(places), self._buffer, self.budget)
        for place, value in zip(places, found, strict=True):
            values[place] = value
        return values


class _Zeros:
    """A buffer of zeros, because a value of all zeros is every type's default."""

    def read(self, size: int, /) -> bytes:
        return bytes(size)

    def read_strings(self, count: int, /) -> list[bytes]:
        return [b""] * count
