"""Measures reads at 1 and at 10 million events, compared with the bare query for the same rows.

    python -m bench.read [--calls 200] [--sizes 1000000,10000000] [--only NAME] [--data DIR]
                         [--rate 2000]

Generates a month of events of 20 organizations inside ClickHouse (`bench/workload.py`), once for
each size and on separate servers, and starts gunicorn in front of each. Then it calls every read
`calls` times at all sizes in turn, each time with other parameters. After each call it runs the
bare ClickHouse query for the same rows over one clickhouse-driver connection: literals, no FINAL
(`bench/reads.py`).

The bar compares times of one run. A read that is bounded by a page or a session grows by at most
1.5x from the smallest size to the largest. No read takes more than 3x its bare query. A ! marks
each ratio that misses. The table also has medians, because a busy machine moves the p95 more. The
orientation in milliseconds is for two otherwise idle cores.

With `--rate` workers run at the largest size, and so many events a second come in there meanwhile.
They stay in the stores that `--data` keeps.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

import click
import redis
from clickhouse_driver import Client
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

# Lets `python bench/read.py` find its neighbours, as `python -m bench.read` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.live import Sender
from bench.reads import READS, Call, Calls, Read
from bench.site import Api, Site
from bench.workload import Workload, ensure

MAX_GROWTH = 1.5
MAX_TO_BARE = 3.0
WARM_UP = 10
_CONNECTIONS = 2
# Until workers run and merges keep up with what comes in.
_STEADY_SECS = 10.0


@dataclass
class Times:
    """Milliseconds of a read at one size."""

    read: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)


class Subject:
    """One size: its site, and connections to it."""

    def __init__(self, site: Site, workload: Workload) -> None:
        self.workload = workload
        self._api: Api = site.connect()
        self._redis = redis.Redis.from_url(site.environ["REDIS_URL"])
        self._clickhouse: Client = site.clickhouse()

    def calls(self, read: Read) -> Calls:
        """Returns the call with its parameters."""
        return Calls(self.workload, self._clickhouse, read.name)

    def exists(self, call: Call) -> bool:
        """Returns whether the route exists already."""
        return self._ask(call)[0] != 404

    def measure(self, read: Read, call: Call, times: Times) -> None:
        """Measures one call and its bare query."""
        if call.cached_as is not None and read.cold:
            self._redis.delete(call.cached_as)
        elif call.cached_as is not None:
            self._ask(call)
        started = time.perf_counter()
        status, body = self._ask(call)
        times.read.append((time.perf_counter() - started) * 1000)
        if status != 200:
            raise SystemExit(f"{call.path} answered {status}: {body[:300]!r}")
        if call.bare is None:
            return
        sql = call.bare(body)
        started = time.perf_counter()
        self._clickhouse.execute(sql)
        times.bare.append((time.perf_counter() - started) * 1000)

    def _ask(self, call: Call) -> tuple[int, bytes]:
        return self._api.ask(self.workload.slugs[call.org], call.path, call.body)


def run(
    subjects: list[Subject], reads: Iterable[Read], calls: int
) -> Iterator[tuple[Read, list[Times]]]:
    """Measures one read after the other, all sizes in turn, and yields the times at each size.

    There are no times for a route that does not exist.
    """
    for read in reads:
        choosing = [subject.calls(read) for subject in subjects]
        if not subjects[0].exists(read.call(choosing[0])):
            yield read, []
            continue
        times = [Times() for _ in subjects]
        with bar(read.name, WARM_UP + calls) as progress:
            for number in range(WARM_UP + calls):
                for subject, choice, found in zip(subjects, choosing, times, strict=True):
                    counts = found if number >= WARM_UP else Times()
                    subject.measure(read, read.call(choice), counts)
                progress(1)
        yield read, times


def measure(sizes: Sequence[int], calls: int, rate: int = 0) -> dict[str, float]:
    """Returns the figures of all reads: times at the largest size, and medians compared."""
    values: dict[str, float] = {}
    area = "read_live" if rate else "read"
    with prepared(sizes, None, rate) as subjects:
        for read, times in run(subjects, READS, calls):
            first, last = times[0], times[-1]
            name, middle = f"{area}.{read.key}", statistics.median(last.read)
            values |= {f"{name}_p50": middle, f"{name}_p95": p95(last.read)}
            if len(times) > 1:
                values[f"{name}_growth"] = middle / statistics.median(first.read)
            if last.bare:
                values[f"{name}_to_bare"] = middle / statistics.median(last.bare)
    return values


def p95(times: list[float]) -> float:
    """Returns the 95th percentile."""
    return statistics.quantiles(times, n=20)[-1]


def row_of(read: Read, times: list[Times]) -> list[str]:
    """Returns a row of the table, with a ! at each ratio that misses the bar."""
    if not times:
        return [read.name, "no such route"]
    first, last = times[0], times[-1]
    row = [read.name]
    for found in times:
        row += [f"{p95(found.read):.1f}", f"{statistics.median(found.read):.1f}"]
    for how in (p95, statistics.median):
        growth = how(last.read) / how(first.read)
        row.append(f"{growth:.2f}" + (" !" if read.bounded and growth > MAX_GROWTH else ""))
    if last.bare:
        row += [f"{p95(last.bare):.1f}", f"{statistics.median(last.bare):.1f}"]
        for how in (p95, statistics.median):
            ratio = how(last.read) / how(last.bare)
            row.append(f"{ratio:.2f}" + (" !" if ratio > MAX_TO_BARE else ""))
    else:
        row += [""] * 4
    return [*row, "" if read.orientation_ms is None else str(read.orientation_ms)]


def header_of(sizes: list[int]) -> list[str]:
    """Returns the names of the columns: p95 and median of everything."""
    names = ["read, ms"]
    for size in sizes:
        names += [f"p95 {size / 1e6:g}M", "p50"]
    return [*names, "growth p95", "p50", "bare p95", "p50", "to bare p95", "p50", "orientation"]


def show(rows: list[list[str]]) -> None:
    """Prints the table in Markdown."""
    widths = [max(map(len, cells)) for cells in zip_longest(*rows, fillvalue="")]
    for number, row in enumerate(rows):
        cells = [
            text.ljust(width) if place == 0 else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=False))
        ]
        click.echo(f"| {' | '.join(cells)} |")
        if number == 0:
            click.echo(f"|{'|'.join('-' * (width + 2) for width in widths)}|")


@contextmanager
def bar(name: str, total: int) -> Iterator[Callable[[int], None]]:
    """Shows a progress bar on standard error and yields a function that advances it."""
    columns = (TextColumn(f"{name:38}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(name, total=total)
        yield lambda done: progress.advance(task, done)


def settle(clickhouse: Client) -> None:
    """Waits until the merges after the inserts are done."""
    while clickhouse.execute("SELECT count() FROM system.merges")[0][0]:
        time.sleep(0.2)


def prepare(site: Site, events: int) -> Subject:
    """Starts stores with the workload in them, and web in front."""
    site.start_stores()
    with bar(f"{events:,} events", events) as advance:
        workload = ensure(site, events, advance)
    clickhouse = site.clickhouse()
    settle(clickhouse)
    clickhouse.disconnect()
    site.start_web()
    return Subject(site, workload)


@contextmanager
def prepared(sizes: Sequence[int], data: Path | None, rate: int) -> Iterator[list[Subject]]:
    """Yields a subject for each size; events come in at the last one at `rate` a second."""
    with ExitStack() as stack:
        if data is None:
            data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="watchpost-bench-")))
            data.chmod(0o755)
        subjects = []
        for size in sizes:
            site = stack.enter_context(Site(data / str(size)))
            subjects.append(prepare(site, size))
        if rate:
            site.start_workers()
            slugs = subjects[-1].workload.slugs
            sender = Sender(int(site.environ["PORT"]), site.environ["ADMIN_KEY"], slugs, rate)
            sender.start(_CONNECTIONS)
            stack.callback(sender.stop)
            time.sleep(_STEADY_SECS)
        yield subjects


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--calls", default=200, show_default=True, help="of each read, at each size")
@click.option("--sizes", default="1000000,10000000", show_default=True, help="events, ascending")
@click.option("--only", default="", help="only reads with this in their name")
@click.option("--rate", default=0, help="events a second that come in at the largest size")
@click.option(
    "--data", type=click.Path(path_type=Path), help="directory that keeps the stores for later runs"
)
def main(calls: int, sizes: str, only: str, rate: int, data: Path | None) -> None:
    numbers = [int(size) for size in sizes.split(",")]
    reads = [read for read in READS if only in read.name]
    with prepared(numbers, data, rate) as subjects:
        rows = [row_of(read, times) for read, times in run(subjects, reads, calls)]
    show([header_of(numbers), *rows])


if __name__ == "__main__":
    main()
