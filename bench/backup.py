"""Measures backups: seconds and megabytes for a million events, and the memory of the tool.

    python -m bench.backup [--events 1000000]

Fills stores with a month of events of 20 organizations (`bench/workload.py`) and runs the tool of
the operator as a process, one command after the other, with nothing else at work.

create       a backup into a folder
verify       all of it is read again
restore      into other, empty stores
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click

# Lets `python bench/backup.py` find its neighbours, as `python -m` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.figures import figures_of, lines_of
from bench.site import Site
from bench.workload import ensure

_COMMAND = str(Path(sys.executable).parent / "service-orgctl")
_MB = 1_000_000
_KIB = 1024


def run(site: Site, *words: str) -> tuple[Any, float, float]:
    """Runs a command; returns its answer, its seconds, and the most memory that it used in MB."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [_COMMAND, "backup", *words, "--json"],
        env=site.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    answer = b"" if process.stdout is None else process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    took = time.perf_counter() - started
    if status:
        raise SystemExit(f"`backup {words[0]}` failed")
    return json.loads(answer), took, used.ru_maxrss * _KIB / _MB


def measure(events: int = 1_000_000) -> dict[str, float]:
    """Returns seconds and megabytes for a million events, and the megabytes of the tool."""
    millions = events / 1_000_000
    with (
        tempfile.TemporaryDirectory(prefix="watchpost-bench-") as folder,
        Site(Path(folder) / "one") as site,
        Site(Path(folder) / "two") as other,
    ):
        Path(folder).chmod(0o755)
        site.start_stores()
        other.start_stores()
        ensure(site, events, lambda _: None)
        target = str(Path(folder) / "backups")
        made, *create = run(site, "create", target)
        _, *verify = run(site, "verify", made["place"])
        _, *restore = run(other, "restore", made["place"])
    values = {"backup.files": made["bytes"] / _MB / millions}
    for name, (took, memory) in (("create", create), ("verify", verify), ("restore", restore)):
        values |= {f"backup.{name}_time": took / millions, f"backup.{name}_memory": memory}
    return values


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--events", default=1_000_000, show_default=True)
def main(events: int) -> None:
    for line in lines_of(figures_of(measure(events))):
        click.echo(line)


if __name__ == "__main__":
    main()
