"""Measures the session page and the SQL page in Chromium.

    python -m bench.ui [--sizes 13000,100000] [--scroll-secs 3] [--runs 3]

Starts a deployment of its own, sends generated sessions, and opens each of them in a new page as a
member. Prints the median of the runs and the bar: first rows, frames a second while scrolling, the
longest task, the heap after all sessions were open, and the time to 10,000 rows of SQL. A ! marks
each bar that is missed. Needs Chromium (`apt-get install chromium`) and a machine that does nothing
else.
"""

import statistics
import sys
import time
from pathlib import Path

import click

# Lets `python bench/ui` find its neighbours, as `python -m bench.ui` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.deployments import deployed
from bench.ui.browser import chromium, line
from bench.ui.generated import session
from bench.ui.member import Member, signed_in_member
from bench.ui.probe import Figures, heap_mb, measure
from bench.ui.rows import ROWS, RowFigures, measure_rows

FIRST_ROWS_MS = {13_000: 2000.0, 100_000: 3000.0}
LEAST_FRAMES = 50.0
LONGEST_TASK_MS = 100.0
MOST_HEAP_MB = 200.0
SQL_ROWS_MS = 1000.0
_STORED_WITHIN_SECS = 300.0


def send(member: Member, session_id: str, count: int) -> None:
    """Sends a generated session and waits until it is stored."""
    lines = session(session_id, count)
    for at in range(0, count, 5000):
        member.post(lines[at : at + 5000])
    deadline = time.monotonic() + _STORED_WITHIN_SECS
    while member.stored(session_id) < count:
        if time.monotonic() > deadline:
            raise click.ClickException(f"{session_id} is not stored: see the worker's log")
        time.sleep(0.2)


def report(size: int, runs: list[Figures]) -> list[str]:
    """Returns the lines about one size, each the median of its runs."""

    def median(name: str) -> float:
        return float(statistics.median(getattr(run, name) for run in runs))

    first, frames, task = median("rows_ms"), median("frames"), median("longest_task_ms")
    bar = FIRST_ROWS_MS.get(size, FIRST_ROWS_MS[100_000])
    lines = [
        line(f"{size:,} first rows", first, "ms", f"<= {bar:.0f}", first > bar),
        line(f"{size:,} complete", median("complete_ms"), "ms", "", missed=False),
        line(
            f"{size:,} frames while scrolling",
            frames,
            "/s",
            f">= {LEAST_FRAMES:.0f}",
            frames < LEAST_FRAMES,
        ),
        line(f"{size:,} frame p95", median("frame_p95_ms"), "ms", "", missed=False),
    ]
    # The bar of tasks is for the smaller size: the rest of a larger one comes behind.
    strict = size <= 13_000
    return [
        *lines,
        line(
            f"{size:,} longest task",
            task,
            "ms",
            f"<= {LONGEST_TASK_MS:.0f}" if strict else "",
            strict and task > LONGEST_TASK_MS,
        ),
    ]


def report_rows(runs: list[RowFigures]) -> list[str]:
    """Returns the lines about the SQL page, each the median of its runs."""
    rows = float(statistics.median(run.rows_ms for run in runs))
    task = float(statistics.median(run.longest_task_ms for run in runs))
    return [
        line(f"{ROWS:,} SQL rows", rows, "ms", f"<= {SQL_ROWS_MS:.0f}", rows > SQL_ROWS_MS),
        line(
            f"{ROWS:,} SQL rows, longest task",
            task,
            "ms",
            f"<= {LONGEST_TASK_MS:.0f}",
            task > LONGEST_TASK_MS,
        ),
    ]


@click.command(help=__doc__)
@click.option("--sizes", default="13000,100000")
@click.option("--scroll-secs", default=3.0)
@click.option("--runs", default=3)
def main(sizes: str, scroll_secs: float, runs: int) -> None:
    """Runs the benchmark."""
    counts = [int(size) for size in sizes.split(",")]
    with deployed(lambda text: click.echo(text, err=True)) as deployment:
        member = signed_in_member(deployment)
        for count in counts:
            send(member, f"generated-{count}", count)
        with chromium(member.url, member.token) as context:
            found: dict[int, list[Figures]] = {count: [] for count in counts}
            for _ in range(runs):
                for count in counts:
                    url = f"{member.url}/o/{member.org}/sessions/generated-{count}"
                    figures, page = measure(context, url, scroll_secs)
                    found[count].append(figures)
                    page.close()
            for count in counts:
                click.echo("\n".join(report(count, found[count])))
            page = context.new_page()
            for count in counts:
                page.goto(f"{member.url}/o/{member.org}/sessions/generated-{count}")
                page.wait_for_selector("[role=treegrid]:not([aria-rowcount='-1'])", timeout=60_000)
            heap = heap_mb(context.new_cdp_session(page))
            click.echo(
                line(
                    "heap after all of them",
                    heap,
                    "MB",
                    f"<= {MOST_HEAP_MB:.0f}",
                    heap > MOST_HEAP_MB,
                )
            )
            base = f"{member.url}/o/{member.org}"
            rows = [measure_rows(context, base) for _ in range(runs)]
            click.echo("\n".join(report_rows(rows)))


if __name__ == "__main__":
    main()
