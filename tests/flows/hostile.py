"""A deployment for abuse, and hostile requests."""

import gzip
import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import psutil
import zstandard

from devstack.up.deployment import Deployment
from shared.foundation.core.clock import format_ts

MIB = 1024 * 1024
NDJSON = {"Content_Type": "application/x-ndjson"}
ARRAY = {"Content_Type": "application/json"}

AN_HOUR_AGO = datetime.now(UTC) - timedelta(hours=1)


def event(session_id: str = "hostile", **fields: object) -> bytes:
    """Returns a line with these fields."""
    return json.dumps(
        {"session_id": session_id, "timestamp": format_ts(AN_HOUR_AGO), "type": "note", **fields},
        ensure_ascii=False,
    ).encode()


def with_raw(raw: bytes) -> bytes:
    """Returns a good event with this value in a field that is never read."""
    return event(z="HERE").replace(b'"HERE"', raw)


DEEP = b"[" * 100_000 + b"]" * 100_000

# The defect of a line → the beginning of the reason for skipping it.
BAD_LINES: dict[str, tuple[bytes, str]] = {
    "2 MB": (event(z="x" * 2 * MIB), "larger than 1048576 bytes"),
    "NaN": (with_raw(b"NaN"), "is not JSON"),
    "infinity": (with_raw(b"-Infinity"), "is not JSON"),
    "UTF-8": (with_raw(b'"\xff"'), "is not valid UTF-8"),
    "a surrogate in UTF-8": (with_raw(b'"\xed\xa0\x80"'), "is not valid UTF-8"),
    "UTF-16": (event().decode().encode("utf-16"), "is not valid UTF-8"),
    "nesting": (with_raw(DEEP), "is nested too deeply"),
    "1970": (event(timestamp="1970-01-01T00:00:00Z"), "timestamp is before 2000"),
    "next week": (
        event(timestamp=format_ts(datetime.now(UTC) + timedelta(days=7))),
        "timestamp is more than 24 hours",
    ),
    "no zone": (event(timestamp="2026-11-01T08:00:00"), "timestamp has no zone"),
    "control character": (event("a\nb"), "session_id contains a control character"),
    "null byte": (event(agent_id="a\x00b"), "agent_id contains a control character"),
    "C1 control": (event("\x85"), "session_id contains a control character"),
    "300 characters": (event("x" * 300), "session_id must have at most 256 characters"),
    "comma": (event(environment="a,b"), "environment contains a comma"),
    "no object": (b"[1]", "is not an object"),
    "half an object": (event()[:-1], "is not JSON"),
}

GOOD_LINES: dict[str, bytes] = {
    "1e400": with_raw(b"1e400"),
    "duplicate keys": event().replace(b'"type"', b'"type":1,"type"'),
    "half an emoji": with_raw(b'"\\ud83d"'),
    "null bytes": event(tool_name="a\x00b", type="tool_use", input="\x00"),
    "900 levels": with_raw(b"[" * 900 + b"]" * 900),
    "odd columns": event(type="tool_result", model=5, duration_ms=-1, outcome=[], error={}),
    "a megabyte of a name": event(type="tool_use", tool_name="x" * 1_000_000),
}

IDS = [
    "..",
    ".",
    "a/export",
    "/",
    "a,b",
    "a\\,b",
    "%",
    "%2F",
    "?",
    "#",
    " ",
    "&x=1",
    "+",
    '"',
    "käse",
    "\u2028",
    "\U0001f600" * 256,
]


def bombs() -> Iterator[tuple[str, bytes, dict[str, str], int]]:
    """Returns (name, body, headers, status) of small bodies that unpack into huge ones."""
    packed, zstd = {"Content_Encoding": "gzip"}, {"Content_Encoding": "zstd"}
    wide = zstandard.ZstdCompressionParameters(window_log=27, write_content_size=True)
    noise = random.Random(1).randbytes(MIB)
    yield "gzip", gzip.compress(bytes(1000 * MIB), 1), {**NDJSON, **packed}, 413
    zeros = zstandard.compress(bytes(200 * MIB), 19)
    yield "zstd", zeros * (MIB // len(zeros)), {**NDJSON, **zstd}, 413
    window = zstandard.ZstdCompressor(compression_params=wide).compress(noise * 20)
    yield "zstd window", window, {**NDJSON, **zstd}, 413
    yield "line breaks", gzip.compress(b"1\n" * 40 * MIB, 1), {**NDJSON, **packed}, 413
    yield "elements", gzip.compress(b"[" + b"1," * 40 * MIB, 1), {**ARRAY, **packed}, 413
    yield "brackets", gzip.compress(b"[" * 60 * MIB, 1), {**ARRAY, **packed}, 413
    yield "quotes", gzip.compress(b'[[,"' + b'\\"' * 20 * MIB, 1), {**ARRAY, **packed}, 400
    yield "members", gzip.compress(b"") * (MIB // 20), {**NDJSON, **packed}, 202


def web_memory(deployment: Deployment) -> int:
    """Returns the memory of all web processes of the deployment, in bytes."""
    port = deployment.environ["PORT"]
    held = 0
    for process in psutil.Process().children(recursive=True):
        # Backends of the databases come and go.
        with suppress(psutil.NoSuchProcess):
            if "gunicorn" in " ".join(process.cmdline()) and process.environ().get("PORT") == port:
                held += process.memory_info().rss
    return held


def durations(times: int, act: Callable[[], object]) -> list[float]:
    """Returns the seconds of each of several calls."""
    took = []
    for _ in range(times):
        began = time.monotonic()
        act()
        took.append(time.monotonic() - began)
    return took


def log_lines(deployment: Deployment, program: str) -> Sequence[str]:
    """Returns a program's log lines, without a line that is still being written."""
    path = deployment.stack.directory / "logs" / f"{program}.log"
    return path.read_text().split("\n")[:-1]
