"""The short check: ratios within one run, compared with those that are written down.

Continuous integration runs on machines of any speed and load. So the ratios are of processor time,
which other work on the machine hardly changes, and only one that has halved is an error. Ingest is
compared with a bare insert of the same rows, and an evaluation with Python's own decoder of JSON.
The events are those of the demonstration, because every checkout can make them.
"""

import json
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from clickhouse_driver import Client

from bench import evaluations
from bench.bodies import bodies_of
from bench.deployments import deployed
from bench.figures import Figure
from bench.ingest import empty, send_all, settle, wait_until_counted
from bench.programs import processor_seconds
from bench.raw import insert_raw
from bench.record import is_worse, read
from bench.suite import Values
from devstack.up.deployment import Deployment
from devstack.up.recording import record

REFERENCE = Path(__file__).with_name("reference.json")

_COPIES = 12
_RUNS = 3
_SENDERS = 8
_SESSIONS, _WINDOW_SECS = 2000, 10
_DECODINGS = 20
_HALVED = 2.0


@dataclass(frozen=True)
class Cost:
    """Seconds of processor time: of web, of all programs, and of the bare insert."""

    web: float
    all: float
    raw: float


def measure() -> Values:
    """Measures the ratios, in about a minute."""
    lines = list(record().lines)
    evaluated = evaluations.measure(0, waiting=_SESSIONS, seconds=_WINDOW_SECS, say=_say_nothing)
    a_second = 1000 / evaluated["evaluations_waiting.cpu_ms"]
    return {
        **_ingest_ratios(lines),
        "check.evaluations_to_decoded": a_second / (_decoded_a_second(lines) / 1000),
    }


def _ingest_ratios(lines: list[bytes]) -> Values:
    with deployed(_say_nothing) as deployment:
        clickhouse = Client.from_url(deployment.environ["CLICKHOUSE_URL"])
        # The first run warms the processes up.
        runs = [_cost(deployment, clickhouse, lines, number) for number in range(_RUNS + 1)][1:]
        clickhouse.disconnect()
    return {
        "check.accepted_to_raw": statistics.median(cost.raw / cost.web for cost in runs),
        "check.queryable_to_raw": statistics.median(cost.raw / cost.all for cost in runs),
    }


def _cost(deployment: Deployment, clickhouse: Client, lines: list[bytes], run: int) -> Cost:
    """Ingests the events and inserts the same ones by a bare insert; returns what both cost."""
    bodies = bodies_of(lines, _COPIES, run)
    empty(clickhouse)
    before = processor_seconds()
    send_all(deployment, bodies, _SENDERS)
    wait_until_counted(clickhouse, len(lines) * _COPIES)
    settle(clickhouse)
    after = processor_seconds()
    taken = {name: secs - before.get(name, 0.0) for name, secs in after.items()}
    own = time.process_time()
    insert_raw(clickhouse, lines, _COPIES)
    settle(clickhouse)
    raw = sum(processor_seconds().values()) - sum(after.values()) + time.process_time() - own
    return Cost(taken["gunicorn"], sum(taken.values()), raw)


def _decoded_a_second(lines: list[bytes]) -> float:
    """Returns the events that Python's own decoder reads in a second of processor time."""
    started = time.process_time()
    for _ in range(_DECODINGS):
        for line in lines:
            json.loads(line)
    return len(lines) * _DECODINGS / (time.process_time() - started)


def _say_nothing(_line: str) -> None:
    pass


def halved(figures: Sequence[Figure]) -> Iterator[str]:
    """Prints each ratio next to its reference, and yields those that have halved."""
    reference = read(REFERENCE)
    values = {figure.name: figure.value for figure in reference.figures}
    for figure in figures:
        was = values[figure.name]
        click.echo(f"{figure.name:32}{figure.value:8.3g}  at {reference.commit}: {was:.3g}")
        if is_worse(figure, was, _HALVED):
            yield f"{figure.name} is {figure.value:.3g}; it was {was:.3g} at {reference.commit}"
