"""Measures how late alert rules are evaluated while events come in, and whether any is refused.

    python -m bench.alerts [--rules 10000] [--orgs 100] [--rate 20000] [--seconds 300]

Starts its own stores with a month of events and evaluations (`bench/workload.py`), and gunicorn,
all workers and the clock as in the Procfile. There are equal numbers of rules of the five kinds,
due every 60 s (`bench/alert_rules.py`). Events come in over HTTP at a steady rate, in gzip batches
of 500, for all organizations in turn (`bench/live.py`). After a minute of warm-up it measures:

lag         for every evaluation, the time from the due moment to the recorded result
done        evaluations recorded, out of those that were due
ingest      batches accepted and refused, and the age of the oldest batch that waits for ClickHouse
cpu         processor seconds per second, by program

The bar: the p95 of the lag, no refused batch, and no missing evaluation.
"""

import re
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

import click
import psutil
import redis
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from sqlalchemy import text

# Lets `python bench/alerts.py` find its neighbours, as `python -m bench.alerts` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import alert_rules
from bench.figures import figures_of, lines_of, percentile
from bench.live import Sender
from bench.site import Site
from bench.workload import Workload, ensure
from shared.foundation.core.clock import now
from shared.foundation.postgres import Postgres
from shared.foundation.queue.waiting import SETTLE, stored_until_each

WARM_UP_SECS = 60
# Evaluations that are due in the last seconds may be recorded after the end.
_GRACE_SECS = 15
_SENDERS = 4

_RECORDED = text("""
SELECT state.alert_id, alerts.trigger_kind, state.last_due_at, state.last_attempted_at,
    state.last_error
FROM alert_states AS state JOIN alerts ON alerts.id = state.alert_id
WHERE state.last_attempted_at > :since
""")


class Samples:
    """All evaluations since a moment. `alert_states` is read more often than they are due."""

    def __init__(self, postgres: Postgres, since: datetime) -> None:
        self._postgres = postgres
        self._seen_to = since
        self.lags: dict[tuple[UUID, datetime], tuple[str, float]] = {}
        self.errors: dict[str, int] = defaultdict(int)

    def take(self) -> None:
        """Reads the evaluations that were recorded since the last call."""
        # Rows become visible after the time they record, so older ones may appear after newer ones.
        since = self._seen_to - timedelta(seconds=5)
        with self._postgres.transaction() as session:
            for row in session.execute(_RECORDED, {"since": since}):
                lag = (row.last_attempted_at - row.last_due_at).total_seconds()
                self.lags[row.alert_id, row.last_due_at] = (row.trigger_kind, lag)
                self._seen_to = max(self._seen_to, row.last_attempted_at)
                if row.last_error is not None:
                    self.errors[row.last_error] += 1

    def between(self, since: datetime, to: datetime) -> dict[str, list[float]]:
        """Returns the lags in seconds of the evaluations due in [since, to), by kind of trigger."""
        lags = defaultdict(list)
        for (_, due_at), (kind, lag) in self.lags.items():
            if since <= due_at < to:
                lags[kind].append(lag)
        return lags


def processor_seconds() -> dict[str, float]:
    """Returns the processor seconds of this program and its children so far, by program."""
    taken: dict[str, float] = defaultdict(float)
    for process in psutil.Process().children(recursive=True):
        try:
            times, program = process.cpu_times(), _program(process)
        except psutil.Error:
            continue
        taken[program] += times.user + times.system
    times = psutil.Process().cpu_times()
    taken["this"] += times.user + times.system
    return taken


def _program(process: psutil.Process) -> str:
    words: list[str] = process.cmdline()
    for name in ("gunicorn", "clickhouse", "postgres", "redis", "valkey"):
        if any(name in word for word in words[:3]):
            return name
    group = process.name().removeprefix("wp-")
    return f"worker {group}" if group != process.name() else "others"


def warnings(site: Site) -> Counter[str]:
    """Counts the warnings of web and workers."""
    told: Counter[str] = Counter()
    for name in ("web", "worker", "clock"):
        for line in (site.directory / "logs" / f"{name}.log").read_bytes().splitlines():
            found = re.search(rb'"event": ?"([^"]*)"', line)
            told[found[1].decode() if found else line[:80].decode(errors="replace")] += 1
    return told


def sample(site: Site, workload: Workload, sender: Sender, seconds: int, tell: Progress) -> Samples:
    """Takes samples for `seconds` and returns them."""
    postgres = Postgres(site.environ["DATABASE_URL"], pool_size=1)
    client = redis.Redis.from_url(site.environ["REDIS_URL"])
    samples, ingest_lags = Samples(postgres, now()), []
    task = tell.add_task("seconds", total=seconds)
    began = time.monotonic()
    while time.monotonic() < began + seconds:
        time.sleep(1)
        oldest = min(stored_until_each(client, workload.org_ids))
        ingest_lags.append((now() - oldest - SETTLE).total_seconds())
        if len(ingest_lags) % 5 == 0:
            samples.take()
        tell.update(task, completed=round(time.monotonic() - began))
    samples.take()
    tell.console.print(
        f"ingest lag: p50 {statistics.median(ingest_lags):.2f} s, max {max(ingest_lags):.2f} s;"
        f" latest batch sent {sender.latest_secs:.2f} s late"
    )
    postgres.close()
    return samples


def report(
    console: Console, samples: Samples, since: datetime, to: datetime, due: int
) -> dict[str, float]:
    """Prints the lags by kind, and returns those of all."""
    by_kind = samples.between(since, to)
    everything = [lag for lags in by_kind.values() for lag in lags]
    console.print(f"{'lag in s':20}{'evaluations':>12}{'p50':>8}{'p95':>8}{'p99':>8}{'max':>8}")
    for name, lags in sorted(by_kind.items()):
        cuts = statistics.quantiles(lags, n=100) if len(lags) > 1 else lags * 99
        figures = (cuts[49], cuts[94], cuts[98], max(lags))
        console.print(f"{name:20}{len(lags):>12}" + "".join(f"{one:>8.2f}" for one in figures))
    for error, count in samples.errors.items():
        console.print(f"not evaluated: {count} x {error}")
    if len(everything) < 2:
        raise click.ClickException("too few evaluations to tell a percentile: measure for longer")
    return {
        "alerts.done": len(everything) / due,
        "alerts.lag_p50": statistics.median(everything),
        "alerts.lag_p95": percentile(everything, 95),
        "alerts.lag_p99": percentile(everything, 99),
        "alerts.lag_most": max(everything),
    }


@contextmanager
def running(site: Site, workload: Workload, rate: int, tell: Progress) -> Iterator[Sender]:
    """Runs web, workers and clock with incoming events, warmed up."""
    site.start_web()
    sender = Sender(int(site.environ["PORT"]), site.environ["ADMIN_KEY"], workload.slugs, rate)
    sender.start(_SENDERS)
    site.start_workers()
    task = tell.add_task("seconds to warm up", total=WARM_UP_SECS)
    for _ in range(WARM_UP_SECS):
        time.sleep(1)
        tell.advance(task)
    sender.latest_secs = 0.0
    try:
        yield sender
    finally:
        sender.stop()


def measure(
    rules: int = 10_000,
    orgs: int = 100,
    rate: int = 20_000,
    events: int = 1_000_000,
    statements: int = 20,
    seconds: int = 300,
) -> dict[str, float]:
    """Returns how late evaluations are in seconds, and what became of the events."""
    console = Console(soft_wrap=True, highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with (
        tempfile.TemporaryDirectory(prefix="watchpost-bench-") as folder,
        Site(Path(folder)) as site,
        Progress(*columns, TimeElapsedColumn(), console=console) as tell,
    ):
        site.start_stores()
        task = tell.add_task("events", total=events)
        workload = ensure(site, events, lambda count: tell.advance(task, count), orgs=orgs)
        clickhouse = site.clickhouse()
        alert_rules.insert_evaluations(clickhouse, workload.org_ids)
        clickhouse.disconnect()
        postgres = Postgres(site.environ["DATABASE_URL"], pool_size=1)
        alert_rules.insert(postgres, workload.org_ids, rules, statements)
        postgres.close()
        with running(site, workload, rate, tell) as sender:
            before, since, answered = processor_seconds(), now(), sender.answers.copy()
            samples = sample(site, workload, sender, seconds, tell)
            took = {name: secs - before.get(name, 0) for name, secs in processor_seconds().items()}
            answers, warned = sender.answers - answered, warnings(site)
        to = since + timedelta(seconds=seconds - _GRACE_SECS)
        an_org = rules // orgs // len(alert_rules.KINDS) * len(alert_rules.KINDS)
        due = an_org * sum(alert_rules.due_between(org, since, to) for org in workload.org_ids)
        values = report(console, samples, since, to, due)
    for event, count in warned.items():
        console.print(f"warned: {count} x {event}")
    for name, secs in sorted(took.items(), key=lambda item: -item[1]):
        values[f"alerts.cores_{name}"] = secs / seconds
    return values | {
        "alerts.accepted": answers[202] * 500 / seconds,
        "alerts.refused": answers[503],
    }


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--rules", default=10_000, show_default=True)
@click.option("--orgs", default=100, show_default=True, help="organizations that share the rules")
@click.option("--rate", default=20_000, show_default=True, help="events a second that come in")
@click.option("--events", default=1_000_000, show_default=True, help="events that are there before")
@click.option(
    "--statements",
    default=20,
    show_default=True,
    help="different statements of the SQL rules of an organization; 20: each has its own",
)
@click.option("--seconds", default=300, show_default=True, help="duration of the measurement")
def main(rules: int, orgs: int, rate: int, events: int, statements: int, seconds: int) -> None:
    for line in lines_of(figures_of(measure(rules, orgs, rate, events, statements, seconds))):
        click.echo(line)


if __name__ == "__main__":
    main()
