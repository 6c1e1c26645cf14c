"""The files of a backup: compressed rows, in parts of a bounded size.

A file is one zstd stream. PostgreSQL's rows are lines of COPY's text format. All other rows are
MessagePack: blocks of an array of rows. The length of each block is in the four bytes before it,
the lowest one first.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec
import zstandard

from shared.core.errors import Conflict
from shared.objects import Objects
from shared.upkeep.backup.manifest import File, Table

Tell = Callable[[str], None]
Row = Sequence[Any]
T = TypeVar("T")

# A part is in memory until it is written. Small enough for that, large enough for few requests.
PART_BYTES = 32 * 1024 * 1024
BLOCK_ROWS = 2048
_LEVEL = 3
_LENGTH_BYTES = 4
_ID_MODULUS = 2**64
# A block with rows of the largest size is far smaller.
_MAX_BLOCK_BYTES = 2**31

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[list[Any]]).decode


class Writer:
    """Writes the rows of a table into parts, and notes them in the table."""

    def __init__(self, objects: Objects, table: Table, tell: Tell) -> None:
        self._objects = objects
        self._table = table
        self._tell = tell
        self._id_at = _id_at(table)
        self._begin()

    def _begin(self) -> None:
        self._stream = zstandard.ZstdCompressor(level=_LEVEL).compressobj()
        self._packed: list[bytes] = []
        self._size = 0
        self._rows = 0

    def write(self, line: bytes) -> int:
        """Adds one row of COPY; the driver of PostgreSQL calls this as it would a file's."""
        self._add(line, 1)
        return len(line)

    def add_rows(self, rows: Sequence[Row]) -> None:
        """Adds rows of values as one block."""
        if not rows:
            return
        block = _encode(rows)
        if self._id_at is not None:
            before = self._table.id_sum or 0
            total = before + sum(row[self._id_at] for row in rows)
            self._table.id_sum = total % _ID_MODULUS
        self._add(len(block).to_bytes(_LENGTH_BYTES, "little") + block, len(rows))

    def _add(self, data: bytes, rows: int) -> None:
        packed = self._stream.compress(data)
        if packed:
            self._packed.append(packed)
            self._size += len(packed)
        self._rows += rows
        if self._size >= PART_BYTES:
            self.finish()

    def finish(self) -> None:
        """Writes what was added since the last part, if anything was."""
        if not self._rows:
            return
        content = b"".join([*self._packed, self._stream.flush()])
        self._packed.clear()
        table = self._table
        name = f"{table.store}/{table.name}/{len(table.files):05d}.zst"
        digest = hashlib.sha256(content).hexdigest()
        size = self._objects.put(name, [content])
        table.files.append(File(name, size, self._rows, digest))
        table.rows += self._rows
        self._tell(f"{name}: {self._rows:,} rows, {size:,} bytes")
        self._begin()


def lines(objects: Objects, file: File) -> Iterator[bytes]:
    """Yields the lines of a file of PostgreSQL, checked as in `unpacked`."""
    begun = b""
    for piece in unpacked(objects, file):
        *whole, begun = (begun + piece).split(b"\n")
        for line in whole:
            yield line + b"\n"
    if begun:
        raise _changed(objects, file)


def blocks(objects: Objects, file: File) -> Iterator[list[list[Any]]]:
    """Yields the blocks of rows of any other file, checked as in `unpacked`."""
    buffer = bytearray()
    for piece in unpacked(objects, file):
        buffer += piece
        while len(buffer) >= _LENGTH_BYTES:
            end = _LENGTH_BYTES + int.from_bytes(buffer[:_LENGTH_BYTES], "little")
            if end > _MAX_BLOCK_BYTES:
                raise _changed(objects, file)
            if len(buffer) < end:
                break
            try:
                rows = _decode(memoryview(buffer)[_LENGTH_BYTES:end])
            except msgspec.MsgspecError as error:
                raise _changed(objects, file) from error
            del buffer[:end]
            yield rows
    if buffer:
        raise _changed(objects, file)


def unpacked(objects: Objects, file: File) -> Iterator[bytes]:
    """Yields the content of a file in pieces.

    Raises `Conflict` if it is not as it was written. The last bytes decide, so a caller has to
    undo what it did with the earlier ones.
    """
    digest = hashlib.sha256()
    stream = zstandard.ZstdDecompressor().decompressobj()
    try:
        for piece in objects.get(file.name):
            digest.update(piece)
            # A megabyte at a time: compressed rows may unpack to a hundred times their size.
            for start in range(0, len(piece), _INPUT_BYTES):
                if unpacked_piece := stream.decompress(piece[start : start + _INPUT_BYTES]):
                    yield unpacked_piece
    except zstandard.ZstdError as error:
        raise _changed(objects, file) from error
    if digest.hexdigest() != file.sha256:
        raise _changed(objects, file)


_INPUT_BYTES = 256 * 1024


def check(objects: Objects, table: Table) -> None:
    """Reads every file of a table; raises `Conflict` unless all are as they were written."""
    id_at, id_sum = _id_at(table), 0
    for file in table.files:
        size = objects.size(file.name)
        if size is None:
            raise Conflict(f"the file {file.name} is missing: use another backup", code="torn")
        if size != file.size:
            raise _changed(objects, file)
        rows = 0
        if table.store == "postgres":
            rows = sum(1 for _ in lines(objects, file))
        else:
            for block in blocks(objects, file):
                rows += len(block)
                if id_at is not None:
                    id_sum += sum(row[id_at] for row in block)
        if rows != file.rows:
            raise _changed(objects, file)
    if sum(file.rows for file in table.files) != table.rows or (
        id_at is not None and table.id_sum is not None and id_sum % _ID_MODULUS != table.id_sum
    ):
        raise Conflict(f"the rows of {table.name} are not those of the manifest", code="torn")


def in_blocks(rows: Iterable[T], size: int = BLOCK_ROWS) -> Iterator[list[T]]:
    """Groups rows into blocks."""
    block: list[T] = []
    for row in rows:
        block.append(row)
        if len(block) == size:
            yield block
            block = []
    if block:
        yield block


def _id_at(table: Table) -> int | None:
    names = [column.name for column in table.columns if column.type == "UInt64"]
    if table.store != "clickhouse" or "id" not in names:
        return None
    return [column.name for column in table.columns].index("id")


def _changed(objects: Objects, file: File) -> Conflict:
    return Conflict(
        f"{objects.url}/{file.name} is not as it was written: use another backup",
        code="backup_changed",
    )
