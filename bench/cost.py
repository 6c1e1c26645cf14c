"""Shows where ingest spends its processor time, in microseconds an event.

    python -m bench.cost [--copies 16] [--senders 8]

Starts its own deployment and sends the airline recording `copies` times, as `bench.ingest` does.
`cost` is the processor time of every program: until a query counts all events, and until
ClickHouse has merged them too. ClickHouse is split by the names of its threads into merges and
statements. `idle` is the time of the program while nothing is sent. `steps` are those of web and
worker, each alone in one process without servers; the columns contain fields and summaries.
"""

import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import psutil
from clickhouse_driver import Client

# Lets `python bench/cost.py` find its neighbours, as `python -m bench.cost` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.airline import read_events
from bench.bodies import bodies_of
from bench.deployments import deployed
from bench.figures import figures_of, lines_of
from bench.ingest import empty, send_all, settle, wait_until_counted
from devstack.up.deployment import Deployment
from shared.foundation.core.body import unpack
from shared.intake.ingest.batch import Batch, decode_batch, encode_batch, encode_sent
from shared.intake.ingest.candidates import ndjson_lines
from shared.intake.ingest.decode import decode_events
from shared.intake.ingest.fields import read_fields
from shared.intake.ingest.rows import columns_of
from shared.intake.ingest.rules import IngestRules
from shared.intake.ingest.summary import summarise

_IDLE_SECS = 5.0
_PROGRAMS = (
    ("clickhouse_child", "clickhouse"),
    ("valkey-server", "redis"),
    ("postgres", "postgres"),
    ("gunicorn", "web"),
    ("otlp.grpc", "otlp-grpc"),
    ("workers.", "workers, clock"),
)
_MERGES = "MergeMutate"
_MAX_EVENT_BYTES = 1024 * 1024
_MAX_BODY_BYTES = 128 * 1024 * 1024


def processor_seconds() -> dict[str, float]:
    """Returns the processor seconds of this program and its children so far, by program."""
    seconds: dict[str, float] = defaultdict(float)
    own = os.times()
    seconds["senders"] = own.user + own.system
    for process in psutil.Process().children(recursive=True):
        try:
            words, times = " ".join(process.cmdline()), process.cpu_times()
        except psutil.Error:  # it has ended
            continue
        name = next((name for mark, name in _PROGRAMS if mark in words), "other")
        if name == "clickhouse":
            merging = _merging_seconds(process)
            seconds["clickhouse: merges"] += merging
            seconds["clickhouse: statements"] += times.user + times.system - merging
        else:
            seconds[name] += times.user + times.system
    return seconds


def _between(earlier: dict[str, float], later: dict[str, float]) -> dict[str, float]:
    return {name: seconds - earlier.get(name, 0.0) for name, seconds in later.items()}


def _merging_seconds(process: psutil.Process) -> float:
    seconds = 0.0
    for task in Path(f"/proc/{process.pid}/task").iterdir():
        try:
            name, _, numbers = (task / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:  # the thread has ended
            continue
        if name == _MERGES:
            user, system = numbers.split()[11:13]
            seconds += (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    return seconds


def measure_programs(
    deployment: Deployment, lines: list[bytes], copies: int, senders: int
) -> dict[str, float]:
    """Sends the events twice, and returns the time of each program during the second pass.

    µs an event until all are queryable, and until all are merged; % of a core when idle.
    """
    clickhouse = Client.from_url(deployment.environ["CLICKHOUSE_URL"])
    events = len(lines) * copies
    for run in range(2):
        bodies = bodies_of(lines, copies, run)
        empty(clickhouse)
        before, started = processor_seconds(), time.perf_counter()
        accepted = send_all(deployment, bodies, senders)
        wait_until_counted(clickhouse, events)
        queryable, elapsed = processor_seconds(), time.perf_counter() - started
        settle(clickhouse)
        settled = processor_seconds()
    clickhouse.disconnect()
    idle_from = processor_seconds()
    time.sleep(_IDLE_SECS)
    idle = _between(idle_from, processor_seconds())
    click.echo(f"{events:,} events: accepted in {accepted:.1f} s, queryable in {elapsed:.1f} s")
    first, both = _between(before, queryable), _between(before, settled)
    values: dict[str, float] = {}
    for name in sorted(both, key=both.__getitem__, reverse=True):
        program = _key(name)
        values |= {
            f"cost.{program}_queryable": first[name] / events * 1e6,
            f"cost.{program}_merged": both[name] / events * 1e6,
            f"cost.{program}_idle": idle[name] / _IDLE_SECS * 100,
        }
    return values | {
        "cost.queryable": sum(first.values()) / events * 1e6,
        "cost.merged": sum(both.values()) / events * 1e6,
        "cost.idle": sum(idle.values()) / _IDLE_SECS * 100,
    }


def _key(program: str) -> str:
    return program.replace(",", "").replace(":", "").replace("-", "_").replace(" ", "_")


def measure_steps(lines: list[bytes], copies: int = 4) -> dict[str, float]:
    """Returns the µs an event of each step in web and worker, the best of three."""
    events = len(lines) * copies
    values: dict[str, float] = {}

    def timed(name: str, step: Callable[[], Any]) -> Any:
        seconds = []
        for _ in range(3):
            started = time.process_time()
            result = step()
            seconds.append(time.process_time() - started)
        values[f"steps.{name}"] = min(seconds) / events * 1e6
        return result

    bodies = bodies_of(lines, copies, 0)
    unpacked = timed("web_unpack", lambda: [unpack(b, "gzip", _MAX_BODY_BYTES) for b in bodies])
    lists = timed("web_split", lambda: [ndjson_lines(body) for body in unpacked])
    decoded = timed(
        "web_check", lambda: [decode_events(li, "org", _MAX_EVENT_BYTES) for li in lists]
    )
    entries = timed(
        "web_encode",
        lambda: [
            encode_sent(one.batch, "org", body, "gzip", plain) or encode_batch(one.batch)
            for one, body, plain in zip(decoded, bodies, unpacked, strict=True)
        ],
    )
    batches = timed("worker_decode", lambda: [decode_batch(entry) for entry in entries])
    batch = Batch([], [], [], [], [], [], [], [])
    for one in batches:
        batch.extend(one)
    fields = timed("worker_fields", lambda: [read_fields(payload) for payload in batch.payloads])
    timed(
        "worker_summaries", lambda: list(map(summarise, batch.event_types, fields, batch.payloads))
    )
    timed("worker_columns", lambda: columns_of("org", batch, IngestRules(lambda _model: 200_000)))
    return values


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--copies", default=16, show_default=True, help="number of copies of the recording")
@click.option("--senders", default=8, show_default=True, help="connections that post at once")
def main(copies: int, senders: int) -> None:
    lines = read_events()
    with deployed() as deployment:
        values = measure_programs(deployment, lines, copies, senders)
    for line in lines_of(figures_of(values | measure_steps(lines))):
        click.echo(line)


if __name__ == "__main__":
    main()
