"""The recordings that benchmarks send. They are not copied into the project but stay next to it."""

import gzip
import os
from pathlib import Path

_PROJECT = Path(__file__).resolve().parents[1]


def read_events() -> list[bytes]:
    """Returns the 13,007 events, one JSON object each.

    Names the missing path when there are none.
    """
    path = _data() / "airline-agent" / "events.ndjson.gz"
    if not path.exists():
        raise SystemExit(
            f"no recording at {path}: set WATCHPOST_SHARED to the folder that holds it"
        )
    return gzip.decompress(path.read_bytes()).splitlines()


def recorded_requests() -> list[Path]:
    """Returns the files with recorded requests of OpenTelemetry's traces; none if absent."""
    return sorted((_data() / "otlp").glob("*/*-traces.pb"))


def _data() -> Path:
    return Path(os.environ.get("WATCHPOST_SHARED") or _PROJECT.parent / "shared") / "data"
