"""Measures how many sessions are evaluated a second, and the processor time of each evaluation.

    python -m bench.evaluations [--sessions 2000] [--latency 0] [--waiting 0] [--rate 0]

Starts its own deployment, as in the Procfile, and an evaluator (`bench/scorer.py`) that holds all
calls at first. It sends the airline recording until there are enough sessions, waits until each has
its job, and lets the evaluator answer. With `--waiting` it also writes that many short sessions
straight into the stores, as ingest leaves them, and then measures a window of `--seconds` while
`--rate` events a second come in.

promoted_per_s  jobs created ÷ seconds, for sessions of `--waiting`
per_s           results ÷ (first call … last result readable in ClickHouse)
cpu_ms          processor time of all our processes and the stores ÷ results, also by program
busy            the share of the places that had a call, from the first call to the last one

Afterwards every evaluated session must have had exactly one call and one result.
"""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import click
import msgspec
from clickhouse_driver import Client
from sqlalchemy import text

# Lets `python bench/evaluations.py` find its neighbours, as `python -m bench.evaluations` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.airline import read_events
from bench.bodies import bodies_of
from bench.deployments import deployed
from bench.figures import figures_of, lines_of
from bench.live import Sender
from bench.posting import Poster
from bench.programs import processor_seconds
from devstack.ports import LOOPBACK, free_port
from devstack.up.deployment import Deployment
from shared.foundation.postgres import Postgres

RECORDED_SESSIONS = 200
_EVENTS_A_SESSION = 10
_GIVE_UP_SECS = 300.0
_LOOK_SECS = 0.2

# Ten events in a quarter of an hour, among those of all other sessions of six hours.
_WAITING_EVENTS = """
INSERT INTO events (org_id, id, session_id, agent_id, event_type, environment, ts, arrival, payload,
                    summary, is_error)
WITH fromUnixTimestamp64Micro(toInt64({end} - 21600 + intDiv(s * 20700, {count}) + j * 90) * 1000000
                              + s % 1000000, 'UTC') AS at,
     ['agent_start', 'tool_use', 'agent_end'][multiIf(j = 0, 1, j = 9, 3, 2)] AS kind
SELECT '{org_id}', bitShiftRight(cityHash64(s, j), 11), concat('waiting-', toString(s)), 'main',
    kind, 'production', at, bitShiftLeft(toUInt64({end} * 1000), 21),
    concat('{{"session_id":"waiting-', toString(s), '","type":"', kind, '","content":"',
           repeat(hex(cityHash64(s, j, 1)), 25), '"}}'), '', false
FROM (SELECT number AS s FROM numbers({first}, {most})) ARRAY JOIN range(10) AS j
"""
_WAITING_SESSIONS = text("""
INSERT INTO watched_sessions
    (org_id, session_id, last_arrival_at, end_seen, waiting_since, check_at)
SELECT :org_id, 'waiting-' || number, now(), true, now(), now()
FROM generate_series(0, CAST(:count AS int) - 1) AS number
""")


class Measurement:
    """A running deployment with its evaluator."""

    def __init__(self, deployment: Deployment, scorer_port: int) -> None:
        self.deployment = deployment
        self._scorer_port = scorer_port
        self._clickhouse = Client.from_url(deployment.environ["CLICKHOUSE_URL"])
        self._postgres = Postgres(deployment.environ["DATABASE_URL"], pool_size=1)

    def close(self) -> None:
        """Closes the connections."""
        self._clickhouse.disconnect()
        self._postgres.close()

    def post_recording(self, copies: int) -> None:
        """Posts the recording; each copy has its own sessions."""
        poster = Poster(int(self.deployment.environ["PORT"]), self.deployment.admin_key)
        for body in bodies_of(read_events(), copies, run=0):
            while poster.post(body)[0] != 202:
                time.sleep(1)
        poster.close()

    def add_waiting(self, count: int) -> None:
        """Writes ended sessions into the stores, none of which has a job yet."""
        with self._postgres.transaction() as session:
            org_id = session.scalar(text("SELECT id FROM organizations ORDER BY id LIMIT 1"))
        for first in range(0, count, 20_000):
            values = {"org_id": org_id, "end": int(time.time()), "count": count}
            most = min(20_000, count - first)
            self._clickhouse.execute(_WAITING_EVENTS.format(**values, first=first, most=most))
        with self._postgres.transaction() as session:
            session.execute(_WAITING_SESSIONS, {"org_id": org_id, "count": count})

    def jobs(self) -> int:
        """Returns the number of jobs so far."""
        with self._postgres.transaction() as session:
            return int(session.scalar(text("SELECT count(*) FROM evaluation_jobs")) or 0)

    def results(self) -> int:
        """Returns the number of stored results, twice stored ones included."""
        return int(self._clickhouse.execute("SELECT count() FROM evaluations")[0][0])

    def ask_scorer(self, path: str) -> bytes:
        """Sends a GET to the evaluator and returns the body."""
        connection = HTTPConnection(LOOPBACK, self._scorer_port)
        connection.request("GET", path)
        answer = connection.getresponse().read()
        connection.close()
        return answer

    def calls(self) -> dict[str, list[tuple[float, float]]]:
        """Returns the times of the calls of each session."""
        return msgspec.json.decode(
            self.ask_scorer("/report"), type=dict[str, list[tuple[float, float]]]
        )

    def busy(self, places: int) -> float:
        """Returns the share of the places that had a call, from the first call to the last one."""
        calls = [times for of_session in self.calls().values() for times in of_session]
        began, ended = min(time for time, _ in calls), max(time for _, time in calls)
        return sum(end - begin for begin, end in calls) / (ended - began) / places

    def require_once(self, wanted: int) -> None:
        """Requires one result a session and one call a result, and at least `wanted` results."""
        stored = Counter(
            row[0] for row in self._clickhouse.execute("SELECT session_id FROM evaluations FINAL")
        )
        calls = self.calls()
        doubled = [name for name, count in stored.items() if count != 1 or len(calls[name]) != 1]
        if doubled or len(stored) < wanted:
            raise SystemExit(f"{len(stored)} of {wanted} evaluated, not once: {doubled[:5]}")


@contextmanager
def started(latency: float, workers: int, say: Callable[[str], None]) -> Iterator[Measurement]:
    """Starts an evaluator and a deployment that uses it; yields when `web` answers."""
    port = free_port()
    scorer = subprocess.Popen([sys.executable, "-m", "bench.scorer", str(port), str(latency)])
    try:
        with deployed(
            say,
            EVALUATOR_ENDPOINT=f"http://{LOOPBACK}:{port}",
            EVALUATOR_WORKERS=str(workers),
            # The first calls are held until every job exists.
            EVALUATOR_REQUEST_TIMEOUT_MS="300000",
            LOG_LEVEL="info",
        ) as deployment:
            running = Measurement(deployment, port)
            try:
                yield running
            finally:
                running.close()
    finally:
        scorer.kill()
        scorer.wait()


def measure(
    sessions: int = 2000,
    latency: float = 0.0,
    waiting: int = 0,
    rate: int = 0,
    *,
    seconds: int = 30,
    workers: int = 2,
    say: Callable[[str], None] = click.echo,
) -> dict[str, float]:
    """Runs one measurement; returns its figures by name, zero where one does not apply.

    The names begin with `evaluations`, with a `latency` `evaluations_slow`, and with sessions in
    `waiting` `evaluations_waiting`. `bench.figures` has their units and bars.
    """
    copies = -(-sessions // RECORDED_SESSIONS)
    wanted = copies * RECORDED_SESSIONS + waiting
    with started(latency, workers, say) as running:
        running.add_waiting(waiting)
        began = time.monotonic()
        if copies:
            running.post_recording(copies)
        until(lambda: running.jobs() >= wanted)
        promoted_secs = time.monotonic() - began
        sender = _sender(running.deployment, rate) if rate else None
        before, begun = processor_seconds(), time.monotonic()
        running.ask_scorer("/open")
        if waiting:
            time.sleep(seconds)
        else:
            until(lambda: running.results() >= wanted)
        elapsed, done, after = time.monotonic() - begun, running.results(), processor_seconds()
        if sender is not None:
            sender.stop()
        running.require_once(done)
        figures = {
            "evaluations": float(done),
            "per_s": done / elapsed,
            "busy": running.busy(workers * 4),
            "promoted_per_s": waiting / promoted_secs,
        }
    taken = {name: (after[name] - before.get(name, 0.0)) / done * 1000 for name in after}
    taken.pop("scorer")
    figures["cpu_ms"] = sum(taken.values())
    figures |= {f"cpu_ms_{name}": ms for name, ms in sorted(taken.items()) if ms >= 0.05}
    kind = "evaluations_waiting" if waiting else "evaluations_slow" if latency else "evaluations"
    return {f"{kind}.{name}": value for name, value in figures.items()}


def until(holds: Callable[[], bool]) -> None:
    """Waits until the condition holds; looking more often would take processor time."""
    deadline = time.monotonic() + _GIVE_UP_SECS
    while not holds():
        if time.monotonic() > deadline:
            raise SystemExit("the sessions were not evaluated")
        time.sleep(_LOOK_SECS)


def _sender(deployment: Deployment, rate: int) -> Sender:
    port = int(deployment.environ["PORT"])
    sender = Sender(port, deployment.admin_key, ["default"], rate)
    sender.start(2)
    return sender


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--sessions", default=2000, show_default=True, help="recorded sessions, in 200s")
@click.option("--latency", default=0.0, show_default=True, help="seconds an evaluation takes")
@click.option("--waiting", default=0, show_default=True, help="short sessions that wait as well")
@click.option("--rate", default=0, show_default=True, help="events a second meanwhile")
@click.option("--seconds", default=30, show_default=True, help="the window with --waiting")
@click.option("--workers", default=2, show_default=True, help="EVALUATOR_WORKERS")
def main(
    sessions: int, latency: float, waiting: int, rate: int, seconds: int, workers: int
) -> None:
    figures = measure(sessions, latency, waiting, rate, seconds=seconds, workers=workers)
    for line in lines_of(figures_of(figures)):
        click.echo(line)


if __name__ == "__main__":
    main()
