"""Measures the outline of a session with all events of the recording.

    python -m bench.outline [--calls 50]

Posts the 13,007 events as one session to a deployment of its own. When all are stored, it asks for
the outline over one connection, with gzip:

whole        all columns of all events
around       the page of 1,000 events around an event
since        what arrived since the last answer, which is nothing
search       the ids of the events that contain a word
"""

import gzip
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from urllib.parse import urlencode

import click

# Lets `python bench/outline.py` find its neighbours, as `python -m` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.airline import read_events
from bench.site import Site
from devstack.ports import LOOPBACK

SESSION = "recording"
_BATCH = 1000
_PATH = f"/v1/sessions/{SESSION}/outline"
_WARM_UP = 5
# Until the watermark has passed the events.
_SETTLED_SECS = 3.0


class Reader:
    """A connection to the service as the administrator of the default organization."""

    def __init__(self, site: Site) -> None:
        self._connection = HTTPConnection(LOOPBACK, int(site.environ["PORT"]), timeout=60)
        self._headers = {"Authorization": f"Bearer {site.environ['ADMIN_KEY']}"}

    def post(self, lines: list[bytes]) -> None:
        """Posts events."""
        headers = {**self._headers, "Content-Type": "application/x-ndjson"}
        self._connection.request("POST", "/v1/events", b"\n".join(lines), headers)
        answer = self._connection.getresponse()
        if answer.status != 202:
            raise SystemExit(f"POST /v1/events answered {answer.status}: {answer.read()[:300]!r}")
        answer.read()

    def outline(self, **query: object) -> bytes:
        """Returns the compressed outline, empty before the first event is stored."""
        headers = {**self._headers, "Accept-Encoding": "gzip"}
        self._connection.request("GET", f"{_PATH}?{urlencode(query)}", headers=headers)
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status not in (200, 404):
            raise SystemExit(f"{_PATH} answered {answer.status}: {body[:300]!r}")
        return body if answer.status == 200 else b""


def fill(reader: Reader) -> dict[str, object]:
    """Posts the recording and returns its outline when all of it is stored."""
    lines = [
        json.dumps({**json.loads(line), "session_id": SESSION}).encode() for line in read_events()
    ]
    for start in range(0, len(lines), _BATCH):
        reader.post(lines[start : start + _BATCH])
    while True:
        body = reader.outline()
        found: dict[str, object] = json.loads(unpacked(body)) if body else {"total": 0}
        if found["total"] == len(lines):
            time.sleep(_SETTLED_SECS)
            return found
        time.sleep(0.2)


def measure(calls: int = 50) -> dict[str, float]:
    """Returns the milliseconds of each read, and the sizes of a whole outline in bytes."""
    with tempfile.TemporaryDirectory(prefix="watchpost-bench-") as home, Site(Path(home)) as site:
        site.start_stores()
        site.start_web()
        site.start_workers()
        reader = Reader(site)
        found = fill(reader)
        ids: list[int] = found["columns"]["id"]  # type: ignore[index] # it is JSON
        mark = json.loads(unpacked(reader.outline(columns="id")))["watermark"]
        dice = Random(1)
        reads: dict[str, Callable[[], bytes]] = {
            "whole": reader.outline,
            "around": lambda: reader.outline(around=dice.choice(ids), limit=1000),
            "since": lambda: reader.outline(since=mark),
            "search": lambda: reader.outline(search="economy", columns="id"),
        }
        values: dict[str, float] = {}
        for name, read in reads.items():
            times = []
            for number in range(_WARM_UP + calls):
                started = time.perf_counter()
                read()
                if number >= _WARM_UP:
                    times.append((time.perf_counter() - started) * 1000)
            values[f"outline.{name}_p50"] = statistics.median(times)
            values[f"outline.{name}_p95"] = statistics.quantiles(times, n=20)[-1]
        whole = reader.outline()
        return {
            **values,
            "outline.bytes": float(len(unpacked(whole))),
            "outline.gzip_bytes": float(len(whole)),
        }


def unpacked(body: bytes) -> bytes:
    """Returns a body without its compression, which small ones lack."""
    return gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--calls", default=50, show_default=True)
def main(calls: int) -> None:
    values = measure(calls)
    for name in ("whole", "around", "since", "search"):
        middle, high = values[f"outline.{name}_p50"], values[f"outline.{name}_p95"]
        click.echo(f"{name:8} p50 {middle:7.1f} ms   p95 {high:7.1f} ms")
    click.echo(
        f"whole: {values['outline.bytes'] / 1e6:.2f} MB,"
        f" {values['outline.gzip_bytes'] / 1e3:.0f} kB with gzip"
    )


if __name__ == "__main__":
    main()
