"""Measures the time of an audit of a million events and the memory of its worker.

    python -m bench.audit [--events 1000000] [--sensitivity medium] [--data DIR]

Generates inside ClickHouse a week of one organization's events and two days before them. Some
events are sent twice, and four sessions of five have a result. Then it starts the audits worker and
audits that week with all signals and no report. Afterwards it runs the query that reproduces the
numbers of each finding, as POST /queries/run does, and compares them. It ends with an error when
the audit takes more than 30 s, its worker takes more than 500 MB, or a query returns other numbers.
On a busy machine, look at ClickHouse's processor time instead.
"""

import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import UUID

import click
from clickhouse_driver import Client
from sqlalchemy import select

# Lets `python bench/audit.py` find its neighbours, as `python -m bench.audit` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.figures import figures_of, lines_of
from bench.site import Site
from bench.week import DAYS, fill
from devstack.up.programs import Program
from shared.access import organizations
from shared.foundation.core.config import load_settings
from shared.foundation.core.logs import configure_logging
from shared.foundation.deployment.runtime import Runtime
from shared.reading.queries.run import QueryOwner, QueryRunner
from shared.watch.audits import service as audits
from shared.watch.audits.findings.models import Finding
from shared.watch.audits.models import AuditRun
from shared.watch.audits.runs.scheduling import schedule

_GIVE_UP_SECONDS = 600.0


def run_audit(runtime: Runtime, org_id: UUID, sensitivity: str) -> AuditRun:
    """Creates an audit that is due, queues its run as the clock does, and waits until it ends."""
    wanted = {
        "name": "everything",
        "window_mode": "fixed",
        "lookback_window_secs": DAYS * 86_400,
        "sensitivity": sensitivity,
        "top_k": 500,
        "llm_enabled": False,
    }
    with runtime.postgres.transaction() as session:
        audits.create(session, runtime.queue, org_id, wanted, created_by="bench")
    schedule(runtime.postgres, runtime.queue)
    deadline = time.monotonic() + _GIVE_UP_SECONDS
    while time.monotonic() < deadline:
        with runtime.postgres.transaction() as session:
            run = session.scalars(select(AuditRun)).one()
            session.expunge(run)
        if run.finished_at is not None:
            return run
        time.sleep(0.2)
    raise SystemExit("the run did not end")


def peak_megabytes(program: Program) -> float:
    """Returns the peak memory of the program's process."""
    status = Path(f"/proc/{program.pid}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1000


def differing(runtime: Runtime, org_id: UUID) -> list[str]:
    """Prints the time of each finding's query. Returns the findings whose numbers differ."""
    with runtime.postgres.transaction() as session:
        findings = list(session.scalars(select(Finding).order_by(Finding.signal, Finding.title)))
        session.expunge_all()
    runner = QueryRunner(runtime, pool_size=1)
    wrong = []
    for finding in findings:
        run = runner.run(QueryOwner(str(org_id), "bench"), finding.evidence_queries[0]["sql"], [])
        [row] = run.result.rows
        names = [name for name, _ in run.result.columns]
        told = dict(zip(names, row, strict=True))
        is_same = told == finding.evidence["numbers"]
        click.echo(
            f"{run.elapsed_ms:>7} ms  {finding.signal:<18} {finding.severity:<9}"
            f" {finding.title[:80]}"
        )
        if not is_same:
            wrong.append(f"{finding.title}: {finding.evidence['numbers']}, the query says {told}")
    runner.close()
    return wrong


def cpu_seconds(client: Client) -> float:
    """Returns the processor seconds of ClickHouse's statements since the server started."""
    statement = "SELECT sum(value) FROM system.events WHERE event = 'OSCPUVirtualTimeMicroseconds'"
    [(microseconds,)] = client.execute(statement)
    return float(microseconds) / 1e6


def report(run: AuditRun) -> float:
    """Prints the times of the signals, and returns the seconds of the run. All must succeed."""
    stats: dict[str, Any] = run.stats
    if run.finished_at is None or run.started_at is None or run.status != "succeeded":
        raise SystemExit(f"the run {run.status}: {run.error}")
    seconds = (run.finished_at - run.started_at).total_seconds()
    for name, one in stats["signals"].items():
        click.echo(f"{one['elapsed_ms']:>7} ms  {name:<18} {one['candidates']} candidates")
    click.echo(f"{stats['events']} events of {stats['total_sessions']} sessions")
    click.echo(f"{run.findings_count} findings")
    if wrong := stats["failed_signals"]:
        raise SystemExit(f"failed: {wrong}")
    return seconds


def measure(
    events: int = 1_000_000, sensitivity: str = "medium", data: Path | None = None
) -> dict[str, float]:
    """Fills a site and audits it; returns seconds and megabytes."""
    with ExitStack() as stack:
        root = data or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        site = stack.enter_context(Site(root))
        site.start_stores()
        settings = load_settings(site.environ)
        configure_logging(settings, "bench")
        runtime = Runtime.connect(settings)
        stack.callback(runtime.close)
        with runtime.postgres.transaction() as session:
            org_id = organizations.create(session, f"bench-{time.time_ns()}").id
        client = site.clickhouse()
        stack.callback(client.disconnect)
        fill(client, str(org_id), events)
        worker = site.program("audits", "python -m workers.main audits")
        worker.start()
        stack.callback(worker.finish, 0.0)
        # The clock starts a queued run a moment later.
        clock = site.program("clock", "python -m workers.clock")
        clock.start()
        stack.callback(clock.finish, 0.0)
        began = cpu_seconds(client)
        run = run_audit(runtime, org_id, sensitivity)
        values = {
            "audit.clickhouse": cpu_seconds(client) - began,
            "audit.run": report(run),
            "audit.worker": peak_megabytes(worker),
        }
        if wrong := differing(runtime, org_id):
            raise SystemExit("\n".join(wrong))
    return values


@click.command(help=__doc__.splitlines()[0] if __doc__ else None)
@click.option("--events", default=1_000_000, help="events in the audit's window")
@click.option("--sensitivity", default="medium", help="of the audit: low, medium or high")
@click.option("--data", type=click.Path(path_type=Path), help="directory that keeps the stores")
def main(events: int, sensitivity: str, data: Path | None) -> None:
    """Prints the times."""
    for line in lines_of(figures_of(measure(events, sensitivity, data))):
        click.echo(line)


if __name__ == "__main__":
    main()
