"""The files of a backup: compressed rows, in parts of a bounded size.

A file is one zstd stream. PostgreSQL's rows are lines of COPY's text format. All other rows are
MessagePack: blocks of an array of rows. The length of each block is in the four bytes before it,
the lowest one first.
"""

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec
import zstandard

from shared.foundation.core.body import ZSTD_MAX_WINDOW_BYTES, ZSTD_PIECE_BYTES
from shared.foundation.core.errors import Conflict
from shared.foundation.objects import Objects
from shared.upkeep.backup.manifest import BackupFile, BackupTable
from shared.upkeep.backup.values import row_type

Tell = Callable[[str], None]
Row = Sequence[Any]
T = TypeVar("T")

# A part is in memory until it is written. Small enough for that, large enough for few requests.
PART_BYTES = 32 * 1024 * 1024
BLOCK_ROWS = 2048
_LEVEL = 3
_LENGTH_BYTES = 4
_ID_MODULUS = 2**64
# A block is about this large, unless a single row is larger.
_BLOCK_BYTES = 16 * 1024 * 1024
# No row is as large as this: an event and an entry of Redis have a few megabytes at most.
_MAX_ROW_BYTES = 256 * 1024 * 1024

_encode = msgspec.msgpack.Encoder().encode


class BackupWriter:
    """Writes the rows of a table into parts, and notes them in the table."""

    def __init__(self, objects: Objects, table: BackupTable, tell: Tell) -> None:
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
        """Adds rows of values as a block, or as several if it were large."""
        if not rows:
            return
        block = _encode(rows)
        if len(block) > _BLOCK_BYTES and len(rows) > 1:
            middle = len(rows) // 2
            self.add_rows(rows[:middle])
            self.add_rows(rows[middle:])
            return
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
        name = table.file_name(len(table.files))
        digest = hashlib.sha256(content).hexdigest()
        size = self._objects.put(name, [content])
        table.files.append(BackupFile(name, size, self._rows, digest))
        table.rows += self._rows
        self._tell(f"{name}: {self._rows:,} rows, {size:,} bytes")
        self._begin()


def lines(objects: Objects, file: BackupFile) -> Iterator[bytes]:
    """Yields the lines of a file of PostgreSQL, checked as in `unpacked`."""
    rows = 0
    begun = bytearray()
    for piece in unpacked(objects, file):
        for line in io.BytesIO(piece):
            begun += line
            if len(begun) > _MAX_ROW_BYTES:
                raise _changed(objects, file)
            if line.endswith(b"\n"):
                rows += 1
                if rows > file.rows:
                    raise _changed(objects, file)
                yield bytes(begun)
                begun.clear()
    if begun or rows != file.rows:
        raise _changed(objects, file)


def blocks(objects: Objects, table: BackupTable, file: BackupFile) -> Iterator[list[list[Any]]]:
    """Yields the blocks of rows of any other file, checked as in `unpacked`."""
    decode = msgspec.msgpack.Decoder(list[row_type(table)]).decode  # type: ignore[misc] # made here
    rows = 0
    buffer = bytearray()
    for piece in unpacked(objects, file):
        buffer += piece
        while len(buffer) >= _LENGTH_BYTES:
            end = _LENGTH_BYTES + int.from_bytes(buffer[:_LENGTH_BYTES], "little")
            if end > _MAX_ROW_BYTES:
                raise _changed(objects, file)
            if len(buffer) < end:
                break
            try:
                block = decode(memoryview(buffer)[_LENGTH_BYTES:end])
            except msgspec.MsgspecError as error:
                raise _changed(objects, file) from error
            del buffer[:end]
            rows += len(block)
            if not block or rows > file.rows:
                raise _changed(objects, file)
            yield [list(row) for row in block]
    if buffer or rows != file.rows:
        raise _changed(objects, file)


def unpacked(objects: Objects, file: BackupFile) -> Iterator[bytes]:
    """Yields the content of a file in pieces of at most 32 MiB.

    Raises `Conflict` if it is not as it was written. The last bytes decide, so a caller has to
    undo what it did with the earlier ones.
    """
    digest = hashlib.sha256()
    size = 0
    stream = zstandard.ZstdDecompressor(max_window_size=ZSTD_MAX_WINDOW_BYTES).decompressobj()
    try:
        for piece in objects.get(file.name):
            digest.update(piece)
            size += len(piece)
            if size > file.size:
                raise _changed(objects, file)
            for start in range(0, len(piece), ZSTD_PIECE_BYTES):
                if unpacked_piece := stream.decompress(piece[start : start + ZSTD_PIECE_BYTES]):
                    yield unpacked_piece
    except zstandard.ZstdError as error:
        raise _changed(objects, file) from error
    if digest.hexdigest() != file.sha256:
        raise _changed(objects, file)


def check(objects: Objects, table: BackupTable) -> None:
    """Reads every file of a table; raises `Conflict` unless all are as they were written."""
    id_at, id_sum = _id_at(table), 0
    for file in table.files:
        size = objects.size(file.name)
        if size is None:
            raise Conflict(f"the file {file.name} is missing: use another backup", code="torn")
        if size != file.size:
            raise _changed(objects, file)
        if table.store == "postgres":
            for _ in lines(objects, file):
                pass
            continue
        for block in blocks(objects, table, file):
            if id_at is not None:
                id_sum += sum(row[id_at] for row in block)
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


def _id_at(table: BackupTable) -> int | None:
    names = [column.name for column in table.columns if column.type == "UInt64"]
    if table.store != "clickhouse" or "id" not in names:
        return None
    return [column.name for column in table.columns].index("id")


def _changed(objects: Objects, file: BackupFile) -> Conflict:
    return Conflict(
        f"{objects.url}/{file.name} is not as it was written: use another backup",
        code="backup_changed",
    )
