"""Measures reads, refusals and losses while far more events arrive than can be stored.

    python -m bench.burst [--seconds 60] [--senders 12]

Starts its own deployment with a backlog of 64 MiB. The senders post gzip batches of 1,000 events of
the airline recording as fast as they are answered. After a refusal they pause for a tenth of a
second, less than `Retry-After` asks for, and send the same batch again. Meanwhile one reader asks
for the list of sessions and for the newest page of events in turn, without a pause.

offered   events of all batches, accepted or refused ÷ seconds
accepted  events of the batches that got 202 ÷ seconds
stored    accepted events ÷ (first POST … all of them can be read)

Ends with an error when an answer is neither 202 nor 503, when a process ended, or when an accepted
event cannot be read at the end.
"""

import itertools
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import click
import redis
from clickhouse_driver import Client

# Lets `python bench/burst.py` find its neighbours, as `python -m bench.burst` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.airline import read_events
from bench.bodies import MARK, in_sessions, stampable
from bench.deployments import deployed, service_processes
from bench.figures import figures_of, lines_of, percentile
from bench.posting import Poster
from devstack.up.deployment import Deployment
from shared.intake.ingest.stream import waiting

BATCH_EVENTS = 1000
BACKLOG_BYTES = 64 * 1024 * 1024
_PAUSE_SECS = 0.1
_STORED_WITHIN_SECS = 300
_WARM_UP_SECS = 3.0
MUST_BE_ZERO = ("other_answers", "processes_ended", "events_missing")
_READS = {"sessions": "/v1/sessions", "events": "/v1/events"}


@dataclass
class Burst:
    """The answers so far, and milliseconds of each read."""

    sent: Counter[int] = field(default_factory=Counter)
    times: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in _READS})
    reads: Counter[int] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def accepted(self) -> int:
        """The number of accepted events."""
        return self.sent[202] * BATCH_EVENTS

    def count(self, status: int) -> None:
        """Counts the answer to a batch."""
        with self.lock:
            self.sent[status] += 1


class Batches:
    """Batches of 1,000 recorded events, each in sessions of its own."""

    def __init__(self, lines: list[bytes]) -> None:
        marked = in_sessions(lines, MARK)
        self._bodies = [
            stampable(b"\n".join(marked[start : start + BATCH_EVENTS]))
            for start in range(0, len(lines) - BATCH_EVENTS + 1, BATCH_EVENTS)
        ]
        self._numbers = itertools.count()

    def next(self) -> bytes:
        """Returns a batch that was not sent before."""
        number = next(self._numbers)
        return self._bodies[number % len(self._bodies)].at(f"burst-{number:012}-")


def send(poster: Poster, batches: Batches, burst: Burst, until: float) -> None:
    """Posts batches until the moment. A batch that was begun is sent until it is accepted."""
    while time.monotonic() < until:
        body = batches.next()
        while True:
            status, _ = poster.post(body)
            burst.count(status)
            if status != 503:
                break
            time.sleep(_PAUSE_SECS)


def read(poster: Poster, burst: Burst, until: float) -> None:
    """Reads in turn until the moment."""
    while time.monotonic() < until:
        for name, path in _READS.items():
            started = time.perf_counter()
            status, _ = poster.get(path)
            burst.times[name].append((time.perf_counter() - started) * 1000)
            burst.reads[status] += 1


def run(deployment: Deployment, batches: Batches, seconds: float, senders: int) -> Burst:
    """Sends and reads for that many seconds."""
    burst = Burst()
    port, key = int(deployment.environ["PORT"]), deployment.admin_key
    until = time.monotonic() + seconds
    threads = [
        threading.Thread(target=send, args=(Poster(port, key), batches, burst, until))
        for _ in range(senders)
    ]
    threads.append(threading.Thread(target=read, args=(Poster(port, key), burst, until)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return burst


def warm_up(deployment: Deployment, batches: Batches) -> None:
    """Sends a batch and waits until the workers have stored it."""
    poster = Poster(int(deployment.environ["PORT"]), deployment.admin_key)
    poster.post(batches.next())
    poster.close()  # web would end a connection that is idle while the workers start
    wait_until_stored(deployment, BATCH_EVENTS)
    read(poster, Burst(), time.monotonic() + _WARM_UP_SECS)
    poster.close()


def wait_until_stored(deployment: Deployment, wanted: int) -> int:
    """Waits until that many events can be read, five minutes at most. Returns their number."""
    clickhouse = Client.from_url(deployment.environ["CLICKHOUSE_URL"])
    deadline = time.monotonic() + _STORED_WITHIN_SECS
    found = 0
    while found < wanted and time.monotonic() < deadline:
        time.sleep(0.2)
        # Counting the parts costs nothing. Only when there may be enough are events told apart.
        if clickhouse.execute("SELECT count() FROM events")[0][0] >= wanted:
            found = clickhouse.execute("SELECT uniqExact(session_id, id) FROM events")[0][0]
    clickhouse.disconnect()
    return int(found)


def wait_for_empty_backlog(deployment: Deployment) -> float:
    """Waits until no accepted event waits in Redis, and returns the seconds."""
    started = time.monotonic()
    with redis.Redis.from_url(deployment.environ["REDIS_URL"]) as client:
        while waiting(client) and time.monotonic() - started < _STORED_WITHIN_SECS:
            time.sleep(0.1)
    return time.monotonic() - started


def measure(lines: list[bytes], seconds: float = 60, senders: int = 12) -> dict[str, float]:
    """Measures one burst. Returns figures by name; `bench.figures` has their units and bars."""
    batches = Batches(lines)
    said: list[str] = []
    with deployed(said.append, INGEST_BACKLOG_BYTES=str(BACKLOG_BYTES)) as deployment:
        warm_up(deployment, batches)
        processes = service_processes()
        started = time.monotonic()
        burst = run(deployment, batches, seconds, senders)
        sending = time.monotonic() - started
        empty_after = wait_for_empty_backlog(deployment)
        found = wait_until_stored(deployment, BATCH_EVENTS + burst.accepted) - BATCH_EVENTS
        storing = time.monotonic() - started
        ended = processes.keys() - service_processes().keys()
    obituaries = [line for line in said if " ended; " in line]
    for line in [*obituaries, *(processes[pid] for pid in ended)]:
        click.echo(f"ended: {line}", err=True)
    stored = burst.accepted / storing
    others = {status: n for status, n in burst.sent.items() if status not in (202, 503)}
    return {
        "burst.accepted": burst.accepted / sending,
        "burst.stored": stored,
        "burst.offered_to_stored": burst.sent.total() * BATCH_EVENTS / sending / stored,
        "burst.refused": burst.sent[503],
        "burst.other_answers": sum(others.values()),
        "burst.processes_ended": len(ended) + len(obituaries),
        "burst.events_missing": burst.accepted - found,
        "burst.backlog_empty_after": empty_after,
        **{
            f"burst.{name}_p{percent}": percentile(times, percent)
            for name, times in burst.times.items()
            for percent in (50, 99)
        },
        "burst.reads": burst.reads.total(),
        "burst.reads_failed": burst.reads.total() - burst.reads[200],
    }


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--seconds", default=60.0, show_default=True, help="duration of the burst")
@click.option("--senders", default=12, show_default=True, help="connections that post at once")
def main(seconds: float, senders: int) -> None:
    values = measure(read_events(), seconds, senders)
    for line in lines_of(figures_of(values)):
        click.echo(line)
    if any(values[f"burst.{name}"] for name in MUST_BE_ZERO):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
