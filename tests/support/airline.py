"""The airline recording: 13,007 events of 200 real agent sessions (see its own README)."""

import gzip
import json
import os
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

_PROJECT = Path(__file__).resolve().parents[2]
_TIMESTAMP = re.compile(rb'"timestamp":"([^"]+)"')


@dataclass(frozen=True)
class Airline:
    """`lines`: the events as sent, one JSON object each. `labels`: the known facts by session."""

    lines: tuple[bytes, ...]
    labels: dict[str, dict[str, object]]

    def recent(self, newest: datetime | None = None) -> "Airline":
        """Returns the same events, moved so that the last happened at `newest`.

        The default is an hour ago. Order, distances and every other byte stay.
        """
        target = newest or datetime.now(UTC) - timedelta(hours=1)
        shift = target - max(_timestamp(line) for line in self.lines)
        return replace(self, lines=tuple(_moved(line, shift) for line in self.lines))


def airline_folder() -> Path:
    """Returns the path of the recording: below `WATCHPOST_SHARED`, by default `../shared`."""
    shared = os.environ.get("WATCHPOST_SHARED") or _PROJECT.parent / "shared"
    return Path(shared) / "data" / "airline-agent"


def load_airline() -> Airline:
    """Reads the recording. Raises `FileNotFoundError` when it is missing."""
    folder = airline_folder()
    packed = (folder / "events.ndjson.gz").read_bytes()
    labels = json.loads((folder / "labels.json").read_bytes())
    return Airline(tuple(gzip.decompress(packed).splitlines()), labels)


def _timestamp(line: bytes) -> datetime:
    match = _TIMESTAMP.search(line)
    assert match is not None, line[:200]
    return datetime.fromisoformat(match[1].decode())


def _moved(line: bytes, shift: timedelta) -> bytes:
    moved = _timestamp(line) + shift
    text = moved.strftime("%Y-%m-%dT%H:%M:%S.%fZ").encode()
    return _TIMESTAMP.sub(b'"timestamp":"' + text + b'"', line, count=1)
