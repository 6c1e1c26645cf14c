"""The formats of exported files, each written piece by piece in bounded memory."""

import importlib.util
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

from shared.foundation.core.clock import format_us
from shared.foundation.core.errors import Invalid
from shared.reading.exports.columns import COLUMNS, ExportColumn, Row, What

Format = Literal["ndjson", "parquet"]


class FileType(NamedTuple):
    """The name's suffix and the content type of files of a format."""

    suffix: str
    content_type: str


FILE_TYPES: dict[Format, FileType] = {
    "ndjson": FileType("ndjson", "application/x-ndjson"),
    "parquet": FileType("parquet", "application/vnd.apache.parquet"),
}

# A row group of Parquet has about this size in memory.
_GROUP_BYTES = 16 * 1024 * 1024

# JSON allows raw line breaks only between tokens, never inside a string.
_LINE_BREAKS = bytes.maketrans(b"\r\n", b"  ")


class ExportWriter(Protocol):
    """Turns pages of rows into the bytes of a file."""

    def write(self, rows: Sequence[Row]) -> bytes:
        """Returns the bytes that can be written by now, maybe none."""

    def end(self) -> bytes:
        """Returns the last bytes."""


def require(format_: Format) -> None:
    """Raises `Invalid` if this installation cannot write the format."""
    if format_ == "parquet" and importlib.util.find_spec("pyarrow") is None:
        reason = (
            "this server cannot write Parquet: choose ndjson, or install the extra `parquet` there"
        )
        raise Invalid.field("format", reason)


def writer_of(what: What, format_: Format) -> ExportWriter:
    """Returns a new writer; raises `Invalid` as `require` does."""
    require(format_)
    columns = COLUMNS[what]
    return _NdjsonWriter(columns) if format_ == "ndjson" else _Parquet(columns)


def encoded(what: What, format_: Format, pages: Iterable[Sequence[Row]]) -> Iterator[bytes]:
    """Yields the bytes of a file with these rows."""
    writer = writer_of(what, format_)
    for rows in pages:
        if piece := writer.write(rows):
            yield piece
    if piece := writer.end():
        yield piece


class _NdjsonWriter:
    """One JSON object a line. Payloads are copied byte for byte."""

    def __init__(self, columns: Sequence[ExportColumn]) -> None:
        self._columns = columns
        self._encoder = msgspec.json.Encoder()

    def write(self, rows: Sequence[Row]) -> bytes:
        return self._encoder.encode_lines([self._object(row) for row in rows])

    def end(self) -> bytes:
        return b""

    def _object(self, row: Row) -> dict[str, Any]:
        return {
            column.name: value if value is None else _as_json(column, value)
            for column, value in zip(self._columns, row, strict=True)
        }


def _as_json(column: ExportColumn, value: Any) -> Any:
    if column.kind == "moment":
        return format_us(value)
    if column.kind == "json":
        return msgspec.Raw(value.encode().translate(_LINE_BREAKS))
    if column.kind == "agents":
        return [{"agent_id": name, "event_count": count} for name, count in value]
    return float(value) if column.kind == "number" else value


class _Sink(io.RawIOBase):
    """Keeps what was written until it is taken."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []
        self._position = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        piece = bytes(data)
        self._pieces.append(piece)
        self._position += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._position

    def take(self) -> bytes:
        """Returns the bytes that were written since the last call."""
        taken, self._pieces = b"".join(self._pieces), []
        return taken


class _Parquet:
    """Row groups of about 16 MiB, compressed with zstd."""

    def __init__(self, columns: Sequence[ExportColumn]) -> None:
        # Loaded here: processes that write no Parquet do without 60 MB of libraries.
        import pyarrow
        from pyarrow import parquet

        self._arrow, self._columns = pyarrow, columns
        self._schema = pyarrow.schema(
            [pyarrow.field(one.name, _type(pyarrow, one), nullable=one.nullable) for one in columns]
        )
        self._sink = _Sink()
        self._file = parquet.ParquetWriter(self._sink, self._schema, compression="zstd")
        self._waiting: list[Any] = []
        self._size = 0

    def write(self, rows: Sequence[Row]) -> bytes:
        if rows:
            arrays = [
                self._arrow.array(_values(column, values), field.type)
                for column, field, values in zip(
                    self._columns, self._schema, zip(*rows, strict=True), strict=True
                )
            ]
            batch = self._arrow.record_batch(arrays, schema=self._schema)
            self._waiting.append(batch)
            self._size += batch.nbytes
        if self._size >= _GROUP_BYTES:
            self._write_group()
        return self._sink.take()

    def end(self) -> bytes:
        self._write_group()
        self._file.close()
        return self._sink.take()

    def _write_group(self) -> None:
        if self._waiting:
            table = self._arrow.Table.from_batches(self._waiting, self._schema)
            self._file.write_table(table, row_group_size=len(table))
        self._waiting, self._size = [], 0


def _values(column: ExportColumn, values: Sequence[Any]) -> Sequence[Any]:
    """Returns the values as Arrow takes them: maps as lists of pairs, agents as dictionaries."""
    if column.kind == "agents":
        return [
            [{"agent_id": name, "event_count": count} for name, count in agents]
            for agents in values
        ]
    if column.kind == "number":
        return [None if one is None else float(one) for one in values]
    if column.kind in ("scores", "pairs"):
        return [None if one is None else list(one.items()) for one in values]
    return values


def _type(arrow: Any, column: ExportColumn) -> Any:
    return {
        "text": arrow.string,
        "json": arrow.string,
        "whole": arrow.int64,
        "number": arrow.float64,
        "flag": arrow.bool_,
        "moment": lambda: arrow.timestamp("us", tz="UTC"),
        "agents": lambda: arrow.list_(
            arrow.struct([("agent_id", arrow.string()), ("event_count", arrow.int64())])
        ),
        "texts": lambda: arrow.list_(arrow.string()),
        "scores": lambda: arrow.map_(arrow.string(), arrow.float64()),
        "pairs": lambda: arrow.map_(arrow.string(), arrow.string()),
    }[column.kind]()
