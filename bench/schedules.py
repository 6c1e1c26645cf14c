"""Measures scheduled exports: the first files of a month, and a look that finds nothing to do.

    python -m bench.schedules [--events 1000000] [--every daily] [--format ndjson]

Fills stores with a month of events (`bench/workload.py`), and writes the files of the largest of 20
organizations, which has two fifths of them,
into a folder, with nothing else at work.

write        all files, rows a second; CPU and memory are those of this process
full look    all periods, which a worker compares once a day
recent look  the last three days, which a worker compares every ten minutes
"""

import resource
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import click
from sqlalchemy import update

# Lets `python bench/schedules.py` find its neighbours, as `python -m` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.site import Site
from bench.workload import DAYS, ensure
from shared.access.settings import service as settings
from shared.access.settings.service import Editor
from shared.foundation.core.config import load_settings
from shared.foundation.core.logs import configure_logging
from shared.foundation.deployment.runtime import Runtime
from shared.reading.exports.schedules import service
from shared.reading.exports.schedules.models import ExportSchedule
from shared.reading.exports.schedules.running import Exports

_MB = 1_000_000
_KIB = 1024


def look(runtime: Runtime, org_id: UUID, *, full: bool) -> tuple[float, float]:
    """Lets a worker look once; returns its seconds and those of its CPU."""
    with runtime.postgres.transaction() as session:
        service.look_again(session, org_id)
        if not full:
            later = datetime.now(UTC) + timedelta(hours=1)
            session.execute(update(ExportSchedule).values(full_look_at=later))
    started, cpu = time.perf_counter(), time.process_time()
    Exports(runtime, threading.Event()).run()
    return time.perf_counter() - started, time.process_time() - cpu


def begin(runtime: Runtime, org_id: UUID, every: str, format_: str) -> None:
    """Switches the schedule on, for the whole month."""
    for key, value in (("exports.schedule", every), ("exports.format", format_)):
        with runtime.postgres.transaction() as session:
            settings.replace(session, runtime.settings, org_id, key, value, Editor("bench", None))
    with runtime.postgres.transaction() as session:
        service.begin_at(session, org_id, datetime.now(UTC) - timedelta(days=DAYS + 1))


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--events", default=1_000_000, show_default=True)
@click.option("--every", type=click.Choice(["hourly", "daily"]), default="daily", show_default=True)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["ndjson", "parquet"]),
    default="ndjson",
    show_default=True,
)
def main(events: int, every: str, format_: str) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="watchpost-bench-") as folder,
        Site(Path(folder) / "site") as site,
    ):
        Path(folder).chmod(0o755)
        site.start_stores()
        org_id = UUID(ensure(site, events, lambda _: None).org_ids[0])
        target = str(Path(folder) / "files")
        chosen = load_settings({**site.environ, "EXPORT_TARGET": target})
        configure_logging(chosen, "bench")
        runtime = Runtime.connect(chosen)
        begin(runtime, org_id, every, format_)
        wrote, cpu = look(runtime, org_id, full=True)
        with runtime.postgres.transaction() as session:
            files = service.files_of(session, org_id, limit=10_000, offset=0)
        rows, size = sum(one.row_count for one in files), sum(one.bytes for one in files)
        full, recent = (
            look(runtime, org_id, full=every_period)[0] for every_period in (True, False)
        )
        runtime.close()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIB / _MB
    click.echo(
        f"{events:,} events in all, {len(files)} files, {rows:,} rows, {size / _MB:,.0f} MB"
        f" ({every}, {format_})"
    )
    click.echo(
        f"write        {wrote:6.1f} s, {rows / wrote:,.0f} rows/s, {cpu:.1f} s of CPU,"
        f" {memory:,.0f} MB of memory"
    )
    click.echo(f"full look    {full * 1000:6.0f} ms")
    click.echo(f"recent look  {recent * 1000:6.0f} ms")


if __name__ == "__main__":
    main()
