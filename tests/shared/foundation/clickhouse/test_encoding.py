"""Columns that are written as a whole, compared with those that the driver writes."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from clickhouse_driver.bufferedwriter import BufferedSocketWriter
from clickhouse_driver.columns.service import write_column as write_by_value
from clickhouse_driver.context import Context
from clickhouse_driver.errors import TypeMismatchError
from clickhouse_driver.streams import native

TIME = "DateTime64(6, 'UTC')"


class _Sink:
    def __init__(self) -> None:
        self.received = b""

    def sendall(self, data: bytes) -> None:
        self.received += bytes(data)


def _written(write_column: Any, spec: str, values: list[object]) -> bytes:
    context = Context()
    context.settings = {}
    context.client_settings = {"strings_as_bytes": False, "use_numpy": False}
    context.server_info = SimpleNamespace(get_timezone=lambda: "UTC")
    sink = _Sink()
    buffer = BufferedSocketWriter(sink, 1024)
    write_column(context, "column", spec, values, buffer)
    buffer.flush()
    return sink.received


@pytest.mark.parametrize(
    ("spec", "values"),
    [
        (TIME, [0, 1_790_000_000_123_456, -1]),
        (TIME, [datetime(2026, 11, 1, 8, 0, 44, 362000, UTC)]),
        ("Nullable(String)", [None, "", "a", None, "ä" * 64, "b" * 127, "c" * 128, "d" * 20_000]),
        ("Nullable(String)", [b"bytes", None]),
        ("Nullable(UInt32)", [None, 0, 2**32 - 1, None]),
        ("Nullable(Float64)", [None, 0.25, 1e300, None]),
        ("LowCardinality(Nullable(String))", ["a", None, "a"]),
        ("LowCardinality(String)", ["ä" * 64] * 300),
        ("LowCardinality(String)", ["a", "b", "a"]),
        ("LowCardinality(String)", []),
    ],
)
def test_the_bytes_are_those_of_the_driver(spec: str, values: list[object]) -> None:
    assert native.write_column is not write_by_value
    expected = _written(write_by_value, spec, list(values))
    assert _written(native.write_column, spec, values) == expected


@pytest.mark.parametrize(("spec", "value"), [("Nullable(UInt32)", 2**32), (TIME, 2**63)])
def test_a_value_outside_the_type_is_the_driver_s_error(spec: str, value: object) -> None:
    with pytest.raises(TypeMismatchError, match="Column column"):
        _written(native.write_column, spec, [value])
