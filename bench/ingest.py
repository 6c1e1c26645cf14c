"""Measures how fast events are accepted and become queryable, compared with a bare insert.

    python -m bench.ingest [--copies 16 | --events 2000000] [--runs 3] [--senders 8] [--busy 2]

Starts its own deployment on free ports, as in the Procfile. Each run sends the airline recording
`copies` times in gzip batches of 500. Every copy has its own sessions.

accepted    events ÷ (first POST … last 202)
queryable   events ÷ (first POST … a ClickHouse query counts all of them)
raw         columnar blocks of the same 13,007 rows through one clickhouse-driver connection into a
            table without views and indexes, right after, on the same server

The bars are the ratios of the first two to the third in the same run. Then it sends at half the
rate of `queryable` and at half the rate of `accepted`, and times each POST. At last it sends 100
single events and times each from its POST until GET /v1/events shows it. `--busy` runs processes
next to all of this that take as much processor time as they get.
"""

import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from queue import Empty, SimpleQueue

import click
import msgspec
from clickhouse_driver import Client

# Lets `python bench/ingest.py` find its neighbours, as `python -m bench.ingest` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.airline import read_events
from bench.bodies import bodies_of
from bench.deployments import deployed
from bench.figures import figures_of, lines_of, percentile
from bench.posting import Poster
from bench.raw import insert_raw
from devstack.up.deployment import Deployment

BATCH_EVENTS = 500
SINGLES = 100
WARM_UP_COPIES = 12
# The blocks of the bare insert are prepared in advance, so their number is bounded.
RAW_COPIES = 32
PACED_SECS, PACED_SENDERS = 10, 8
# As long as a collector that honours `Retry-After` waits.
_REFUSED_SECS = 2.0


@dataclass(frozen=True)
class Run:
    """Events per second of one run."""

    accepted: float
    queryable: float
    raw: float


def _in_threads(count: int, work: Callable[[], None]) -> float:
    """Runs `work` in that many threads. Returns the seconds until the last one ended."""
    threads = [threading.Thread(target=work) for _ in range(count)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - started


def poster_of(deployment: Deployment) -> Poster:
    """Returns a new connection to the deployment."""
    return Poster(int(deployment.environ["PORT"]), deployment.admin_key)


def send_all(deployment: Deployment, bodies: list[bytes], senders: int) -> float:
    """Posts all bodies over `senders` connections; returns the seconds until the last 202."""
    waiting: SimpleQueue[bytes] = SimpleQueue()
    for body in bodies:
        waiting.put(body)

    def send() -> None:
        poster = poster_of(deployment)
        while True:
            try:
                body = waiting.get_nowait()
            except Empty:
                poster.close()
                return
            while (status := poster.post(body)[0]) == 503:
                time.sleep(_REFUSED_SECS)
            _require_accepted(status)

    return _in_threads(senders, send)


def _require_accepted(status: int) -> None:
    if status != 202:
        raise SystemExit(f"POST /v1/events answered {status}")


def wait_until_counted(clickhouse: Client, events: int) -> None:
    """Waits until a query counts the events."""
    while clickhouse.execute("SELECT count() FROM events")[0][0] < events:
        time.sleep(0.04)  # polling more often would take processor time from ingest


def empty(clickhouse: Client) -> None:
    """Removes all events and sessions, and waits until ClickHouse has no other work."""
    for table in ("events", "agent_sessions"):
        clickhouse.execute(f"TRUNCATE TABLE {table}")
    settle(clickhouse)


def settle(clickhouse: Client) -> None:
    """Waits until no merge runs, so that the next measurement has the machine to itself."""
    while clickhouse.execute("SELECT count() FROM system.merges")[0][0]:
        time.sleep(0.05)
    time.sleep(0.5)


def measure_run(
    deployment: Deployment, lines: list[bytes], copies: int, senders: int, run: int
) -> Run:
    """Measures one run on an empty table."""
    clickhouse = Client.from_url(deployment.environ["CLICKHOUSE_URL"])
    bodies = bodies_of(lines, copies, run, BATCH_EVENTS)
    wanted = len(lines) * copies
    empty(clickhouse)
    started = time.perf_counter()
    accepted = send_all(deployment, bodies, senders)
    wait_until_counted(clickhouse, wanted)
    queryable = time.perf_counter() - started
    counted = clickhouse.execute("SELECT uniqExact(session_id, id) FROM events")[0][0]
    if counted != wanted:
        raise SystemExit(f"sent {wanted} events, found {counted}")
    settle(clickhouse)
    raw = insert_raw(clickhouse, lines, min(copies, RAW_COPIES))
    clickhouse.disconnect()
    return Run(wanted / accepted, wanted / queryable, raw)


def post_latencies(deployment: Deployment, lines: list[bytes], rate: float) -> list[float]:
    """Returns the milliseconds of each POST while `rate` events a second are sent, for 10 s."""
    copies = -(-int(rate * PACED_SECS) // len(lines))
    bodies = bodies_of(lines, copies, int(rate), BATCH_EVENTS)
    numbers = iter(range(len(bodies)))
    latencies: list[float] = []
    started = time.perf_counter()

    def send_on_time() -> None:
        poster = poster_of(deployment)
        for number in numbers:
            due = started + number * BATCH_EVENTS / rate
            time.sleep(max(0.0, due - time.perf_counter()))
            sent = time.perf_counter()
            _require_accepted(poster.post(bodies[number])[0])
            latencies.append((time.perf_counter() - sent) * 1000)
        poster.close()

    _in_threads(PACED_SENDERS, send_on_time)
    return latencies


def single_latencies(deployment: Deployment) -> list[float]:
    """Returns the milliseconds from the POST of an event until GET /v1/events shows it."""
    poster = poster_of(deployment)
    latencies = []
    for number in range(SINGLES):
        session_id = f"single-{os.getpid()}-{number}"
        event = {"session_id": session_id, "timestamp": datetime.now(UTC), "type": "note"}
        started = time.perf_counter()
        poster.post(msgspec.json.encode(event), encoding="identity")
        while not msgspec.json.decode(poster.get(f"/v1/events?session_id={session_id}")[1])[
            "events"
        ]:
            time.sleep(0.005)
        latencies.append((time.perf_counter() - started) * 1000)
        time.sleep(0.05)
    poster.close()
    return latencies


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Runs processes that take as much processor time as they get."""
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def report(runs: list[Run]) -> None:
    """Prints every run."""
    click.echo(
        f"{'':8}{'accepted/s':>12}{'queryable/s':>13}{'raw/s':>10}{'acc/raw':>9}{'qry/raw':>9}"
    )
    for number, run in enumerate(runs, 1):
        click.echo(
            f"run {number:<4}{run.accepted:>12,.0f}{run.queryable:>13,.0f}{run.raw:>10,.0f}"
            f"{run.accepted / run.raw:>9.2f}{run.queryable / run.raw:>9.2f}"
        )


def measure(
    lines: list[bytes], copies: int = 16, runs: int = 3, senders: int = 8, busy: int = 0
) -> dict[str, float]:
    """Measures everything. Returns figures by name; `bench.figures` has their units and bars."""
    name = "ingest_busy" if busy else "ingest"
    with deployed() as deployment, busy_processes(busy):
        # The first, short run warms the processes up.
        measure_run(deployment, lines, min(copies, WARM_UP_COPIES), senders, 0)
        measured = [
            measure_run(deployment, lines, copies, senders, number) for number in range(1, runs + 1)
        ]
        report(measured)
        queryable = statistics.median(run.queryable for run in measured)
        accepted = statistics.median(run.accepted for run in measured)
        steady = post_latencies(deployment, lines, queryable / 2)
        heavy = post_latencies(deployment, lines, accepted / 2)
        singles = single_latencies(deployment)
    return {
        f"{name}.accepted_to_raw": statistics.median(run.accepted / run.raw for run in measured),
        f"{name}.queryable_to_raw": statistics.median(run.queryable / run.raw for run in measured),
        f"{name}.post_p99_half_queryable": percentile(steady, 99),
        f"{name}.post_p99_half_accepted": percentile(heavy, 99),
        f"{name}.single_p50": percentile(singles, 50),
        f"{name}.single_p95": percentile(singles, 95),
    }


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--copies", default=16, show_default=True, help="copies of the recording per run")
@click.option("--events", default=0, help="events per run instead, rounded up to whole copies")
@click.option("--runs", default=3, show_default=True)
@click.option("--senders", default=8, show_default=True, help="connections that post at once")
@click.option("--busy", default=0, show_default=True, help="other processes that are busy")
def main(copies: int, events: int, runs: int, senders: int, busy: int) -> None:
    lines = read_events()
    copies = -(-events // len(lines)) or copies
    for line in lines_of(figures_of(measure(lines, copies, runs, senders, busy))):
        click.echo(line)


if __name__ == "__main__":
    main()
