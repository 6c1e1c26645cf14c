"""Measures how fast events are accepted and become queryable, compared with a bare insert.

    python -m bench.ingest [--copies 12] [--runs 5] [--senders 8]

Starts its own deployment on free ports, as in the Procfile. Each run sends the airline recording
`copies` times in gzip batches of 500. Every copy has its own sessions.

accepted    events ÷ (first POST … last 202)
queryable   events ÷ (first POST … a ClickHouse query counts all of them)
raw         columnar blocks of the same 13,007 rows through one clickhouse-driver connection into a
            table without views and indexes, right after, on the same server

Then it sends 100 single events and times each from its POST until GET /v1/events shows it. The bar
is the ratio of the first two to the third in the same run. Events per second are for orientation.
"""

import gzip
import os
import statistics
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from queue import Empty, SimpleQueue

import click
import msgspec
from clickhouse_driver import Client

# Lets `python bench/ingest.py` find its neighbours, as `python -m bench.ingest` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.airline import read_events
from bench.raw import insert_raw
from devstack.ports import free_port
from devstack.up.deployment import Deployment

BATCH_EVENTS = 500
SINGLES = 100


@dataclass(frozen=True)
class Run:
    """Events per second of one run."""

    accepted: float
    queryable: float
    raw: float


def bodies_of(lines: list[bytes], copies: int, run: int) -> list[bytes]:
    """Returns gzip bodies of 500 events. Each copy of the recording has its own sessions."""
    bodies = []
    for copy in range(copies):
        mark = b'"session_id":"r%dc%d-' % (run, copy)
        mine = [line.replace(b'"session_id":"', mark, 1) for line in lines]
        bodies += [
            gzip.compress(b"\n".join(mine[start : start + BATCH_EVENTS]), 6)
            for start in range(0, len(mine), BATCH_EVENTS)
        ]
    return bodies


def send(port: int, key: str, bodies: SimpleQueue[bytes]) -> None:
    """Posts all bodies. Waits after a 503 and retries, as a collector would."""
    headers = {
        "Authorization": f"Bearer {key}",
        "Content-Type": "application/x-ndjson",
        "Content-Encoding": "gzip",
    }
    connection = HTTPConnection("127.0.0.1", port)
    while True:
        try:
            body = bodies.get_nowait()
        except Empty:
            connection.close()
            return
        while True:
            connection.request("POST", "/v1/events", body, headers)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status == 202:
                break
            if answer.status != 503:
                raise SystemExit(f"POST /v1/events answered {answer.status}: {text[:300]!r}")
            time.sleep(float(answer.headers["Retry-After"]))


def settle(clickhouse: Client) -> None:
    """Waits until no merge runs, so that the next measurement has the machine to itself."""
    while clickhouse.execute("SELECT count() FROM system.merges")[0][0]:
        time.sleep(0.05)
    time.sleep(0.5)


def measure(deployment: Deployment, lines: list[bytes], copies: int, senders: int, run: int) -> Run:
    """Measures one run on an empty table."""
    clickhouse = Client.from_url(deployment.environ["CLICKHOUSE_URL"])
    for table in ("events", "agent_sessions"):
        clickhouse.execute(f"TRUNCATE TABLE {table}")
    bodies: SimpleQueue[bytes] = SimpleQueue()
    for body in bodies_of(lines, copies, run):
        bodies.put(body)
    port = int(deployment.environ["PORT"])
    threads = [
        threading.Thread(target=send, args=(port, deployment.admin_key, bodies))
        for _ in range(senders)
    ]
    wanted = len(lines) * copies
    settle(clickhouse)
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    accepted = time.perf_counter() - started
    while clickhouse.execute("SELECT count() FROM events")[0][0] < wanted:
        time.sleep(0.04)  # polling more often would take processor time from ingest
    queryable = time.perf_counter() - started
    counted = clickhouse.execute("SELECT uniqExact(session_id, id) FROM events")[0][0]
    if counted != wanted:
        raise SystemExit(f"sent {wanted} events, found {counted}")
    settle(clickhouse)
    raw = insert_raw(clickhouse, lines, copies)
    clickhouse.disconnect()
    return Run(wanted / accepted, wanted / queryable, raw)


def single_latencies(deployment: Deployment) -> list[float]:
    """Returns the seconds from the POST of an event until GET /v1/events shows it, 100 times."""
    port, key = int(deployment.environ["PORT"]), deployment.admin_key
    connection = HTTPConnection("127.0.0.1", port)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/x-ndjson"}
    latencies = []
    for number in range(SINGLES):
        session_id = f"single-{os.getpid()}-{number}"
        event = {
            "session_id": session_id,
            "timestamp": datetime.now(UTC),
            "type": "note",
        }
        started = time.perf_counter()
        connection.request("POST", "/v1/events", msgspec.json.encode(event), headers)
        connection.getresponse().read()
        while True:
            connection.request("GET", f"/v1/events?session_id={session_id}", headers=headers)
            if msgspec.json.decode(connection.getresponse().read())["events"]:
                break
            time.sleep(0.005)
        latencies.append(time.perf_counter() - started)
        time.sleep(0.05)
    connection.close()
    return latencies


def report(runs: list[Run], latencies: list[float]) -> None:
    """Prints every run and the medians."""
    click.echo(
        f"{'':8}{'accepted/s':>12}{'queryable/s':>13}{'raw/s':>10}{'acc/raw':>9}{'qry/raw':>9}"
    )
    for number, run in enumerate(runs, 1):
        click.echo(
            f"run {number:<4}{run.accepted:>12,.0f}{run.queryable:>13,.0f}{run.raw:>10,.0f}"
            f"{run.accepted / run.raw:>9.2f}{run.queryable / run.raw:>9.2f}"
        )
    accepted = statistics.median(run.accepted / run.raw for run in runs)
    queryable = statistics.median(run.queryable / run.raw for run in runs)
    p95 = statistics.quantiles(latencies, n=20)[-1]
    click.echo(f"median accepted/raw  {accepted:.2f}  (to reach: 0.45)")
    click.echo(f"median queryable/raw {queryable:.2f}  (to reach: 0.22)")
    click.echo(
        f"single event readable: p50 {statistics.median(latencies) * 1000:.0f} ms,"
        f" p95 {p95 * 1000:.0f} ms  (to reach: 1000)"
    )


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option(
    "--copies", default=12, show_default=True, help="number of copies of the recording per run"
)
@click.option("--runs", default=5, show_default=True)
@click.option("--senders", default=8, show_default=True, help="connections that post at once")
def main(copies: int, runs: int, senders: int) -> None:
    lines = read_events()
    with tempfile.TemporaryDirectory(prefix="watchpost-bench-") as folder:
        Path(folder).chmod(0o755)
        given = {
            **os.environ,
            "PORT": str(free_port()),
            "LOG_LEVEL": "warning",
            # No evaluator listens here: evaluating the sessions is not part of ingest.
            "EVALUATOR_ENDPOINT": f"http://127.0.0.1:{free_port()}",
            "EVALUATOR_ORGS": "nobody",
        }
        with Deployment(Path(folder), given, click.echo) as deployment:
            measured = []
            for run in range(runs + 1):
                figures = measure(deployment, lines, copies, senders, run)
                if run:  # the first run warms the processes up
                    measured.append(figures)
            latencies = single_latencies(deployment)
    report(measured, latencies)


if __name__ == "__main__":
    main()
