"""Pages through a million events of an organization while others are written into the same one.

    python -m bench.paging [--events 1000000] [--rate 10000] [--path /v1/events/summary]

Starts its own deployment, as in the Procfile, and puts the events into ClickHouse, five of each
moment. Then it posts batches of 500 at the given rate, or as fast as they are accepted. Most of
these events are new, a tenth fall among the existing ones, and some of those are sent again.
Meanwhile one client pages with a limit of 1,000, newest first and then oldest first, through all
events that existed at the start. Ends with an error unless the client saw each of these exactly
once and all in order.
"""

import gzip
import itertools
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
from clickhouse_driver import Client

# Lets `python bench/paging.py` find its neighbours, as `python -m bench.paging` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.deployments import deployed
from bench.figures import percentile
from bench.posting import Poster
from devstack.up.deployment import Deployment
from shared.access import organizations
from shared.access.organizations.rules import DEFAULT_SLUG
from shared.foundation.core.clock import format_us, now_us
from shared.foundation.postgres import Postgres

BATCH = 500
LIMIT = 1000
# As long as a collector that honours `Retry-After` waits.
_REFUSED_SECS = 2.0
_SPAN_US = 24 * 3600 * 1_000_000
# Scatters the tenth that falls among the existing events over all of them.
_STRIDE = 7_919_000_003

_FILL = """
INSERT INTO events (org_id, id, session_id, agent_id, event_type, environment, ts, arrival, payload,
    summary, is_error)
SELECT {org_id:String}, bitShiftRight(cityHash64(number), 11),
    concat('s', toString(number % 20000)),
    'main', 'old', 'default',
    fromUnixTimestamp64Micro({start:Int64} + intDiv(number, 5) * {gap:Int64}, 'UTC'),
    bitShiftLeft(toUInt64(intDiv({start:Int64}, 1000)), 21) + number % 2000000,
    concat('{"number":', toString(number), ',"text":"', repeat('word ', 60), '"}'), 'old', false
FROM numbers({first:UInt64}, {count:UInt64})
"""


class Writer:
    """Posts batches at a rate from a few threads and counts the accepted events."""

    def __init__(self, port: int, key: str, start_us: int, rate: int, senders: int) -> None:
        self.accepted = self.refused = 0
        self._port, self._key, self._start_us = port, key, start_us
        self._pause = senders * BATCH / rate
        self._numbers = itertools.count()
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._send) for _ in range(senders)]

    def start(self) -> None:
        """Starts writing."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stops writing and waits for the last answers."""
        self._done.set()
        for thread in self._threads:
            thread.join()

    def _send(self) -> None:
        poster = Poster(self._port, self._key)
        again = b""
        due = time.monotonic()
        while not self._done.is_set():
            number = next(self._numbers)
            body = again if again and number % 20 == 0 else gzip.compress(self._lines(number), 1)
            if number % 10 == 0:
                again = body
            status, _ = poster.post(body)
            with self._lock:
                if status == 202:
                    self.accepted += BATCH
                else:
                    self.refused += BATCH
            if status == 503:
                time.sleep(_REFUSED_SECS)
            due = max(due + self._pause, time.monotonic() - 1)
            self._done.wait(max(0.0, due - time.monotonic()))
        poster.close()

    def _lines(self, number: int) -> bytes:
        now = now_us()
        lines = []
        for place in range(BATCH):
            among = number % 10 == 0
            ts = self._start_us + (number * BATCH + place) * _STRIDE % _SPAN_US if among else now
            lines.append(
                b'{"session_id":"n%d","timestamp":"%s","type":"new","number":%d}'
                % (place % 50, format_us(ts).encode(), number * BATCH + place)
            )
        return b"\n".join(lines)


def pages(port: int, key: str, path: str, order: str, until: str) -> Iterator[list[dict[str, Any]]]:
    """Yields page after page, up to `until`."""
    poster = Poster(port, key)
    cursor = ""
    while True:
        query = f"{path}?limit={LIMIT}&order={order}{cursor}"
        status, body = poster.get(query)
        if status != 200:
            raise SystemExit(f"GET {query} answered {status}: {body[:300]!r}")
        page = msgspec.json.decode(body)
        yield page["events"]
        passed = order == "asc" and page["events"] and page["events"][-1]["ts"] > until
        if page["next_cursor"] is None or passed:
            poster.close()
            return
        cursor = f"&cursor={page['next_cursor']}"


def check(expected: list[int], seen: list[int], moments: list[str], order: str) -> None:
    """Raises `SystemExit` with the reason when events are missing, repeated or out of order."""
    wanted = expected if order == "asc" else expected[::-1]
    among = set(expected)
    found = [number for number in seen if number in among]
    if found != wanted:
        raise SystemExit(
            f"{order}: {len(among.difference(found))} missing,"
            f" {len(found) - len(set(found))} twice, of {len(wanted)}"
        )
    if moments != sorted(moments, reverse=order == "desc"):
        raise SystemExit(f"{order}: not in order")


def fill(clickhouse: Client, org_id: str, events: int, start_us: int) -> list[int]:
    """Stores the events and returns their ids in order."""
    for first in range(0, events, 100_000):
        count = min(100_000, events - first)
        gap = max(1, _SPAN_US * 5 // events)
        values = {"org_id": org_id, "start": start_us, "gap": gap, "first": first, "count": count}
        clickhouse.execute(_FILL, values)
        click.echo(f"\r{first + count:,} events", nl=False, err=True)
    click.echo(err=True)
    rows = clickhouse.execute("SELECT id FROM events ORDER BY ts, arrival, id")
    return [number for (number,) in rows]


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--events", default=1_000_000, show_default=True, help="that are there at the start")
@click.option("--rate", default=10_000, show_default=True, help="events a second to write")
@click.option("--senders", default=4, show_default=True, help="connections that post at once")
@click.option("--path", default="/v1/events/summary", show_default=True)
def main(events: int, rate: int, senders: int, path: str) -> None:
    with deployed() as deployment:
        measure(deployment, events, rate, senders, path)


def measure(deployment: Deployment, events: int, rate: int, senders: int, path: str) -> None:
    """Fills, writes, pages both ways and prints the result."""
    port, key = int(deployment.environ["PORT"]), deployment.admin_key
    url = deployment.environ["CLICKHOUSE_URL"]
    clickhouse = Client.from_url(f"{url}?server_side_params=True")
    start_us = now_us() - _SPAN_US - 60_000_000
    org_id = organization(deployment.environ["DATABASE_URL"])
    expected = fill(clickhouse, org_id, events, start_us)
    until = format_us(start_us + _SPAN_US)
    # In this order, neither direction passes events that were written during the other.
    for order in ("desc", "asc"):
        writer = Writer(port, key, start_us, rate, senders)
        before = clickhouse.execute("SELECT count() FROM events")[0][0]
        started = time.perf_counter()
        writer.start()
        times, seen, moments = [], [], []
        asked = time.perf_counter()
        for page in pages(port, key, path, order, until):
            times.append(time.perf_counter() - asked)
            seen += [row["id"] for row in page]
            moments += [row["ts"] for row in page]
            if len(times) % 50 == 0:
                click.echo(f"\r{order}: {len(seen):,} events seen", nl=False, err=True)
            asked = time.perf_counter()
        elapsed = time.perf_counter() - started
        stored = clickhouse.execute("SELECT count() FROM events")[0][0] - before
        writer.stop()
        click.echo(err=True)
        check(expected, seen, moments, order)
        click.echo(
            f"{order}: all {events:,} exactly once and in order, {len(seen):,} seen in"
            f" {len(times):,} pages and {elapsed:.0f} s;"
            f" page p50 {percentile(times, 50) * 1e3:.0f} ms,"
            f" p95 {percentile(times, 95) * 1e3:.0f} ms; meanwhile accepted"
            f" {writer.accepted / elapsed:,.0f}/s, stored {stored / elapsed:,.0f}/s of {rate:,}/s"
            f" asked for, refused {writer.refused:,}"
        )


def organization(database_url: str) -> str:
    """Returns the id of the organization that the admin key acts for by default."""
    postgres = Postgres(database_url, pool_size=1)
    with postgres.transaction() as session:
        found = organizations.get(session, DEFAULT_SLUG)
    postgres.close()
    if found is None:
        raise SystemExit(f"there is no organization {DEFAULT_SLUG}")
    return str(found.id)


if __name__ == "__main__":
    main()
