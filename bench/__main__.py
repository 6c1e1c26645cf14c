"""Measures everything that has a bar, and prints each figure with its bar.

    python -m bench [--only ingest] [--short | --long] [--json [FILE]] [--at COMMIT]
    python -m bench --compare BEFORE.json AFTER.json
    python -m bench --short --check

Each benchmark starts servers of its own and needs a machine that does nothing else. `--short` is
for a quick look; `--long` adds two million events, 100,000 waiting sessions and ten million events
to read. `--json` without a file keeps the figures in `bench/results`, and prints them into the
documents. `--at` runs the benchmarks of this work tree against the code, the environment and the
devstack of another commit, in a temporary work tree. `--check` compares the ratios with
`bench/reference.json` and ends with an error when one has halved.
"""

import sys
import traceback
from pathlib import Path

import click
import msgspec

from bench import check, documents
from bench.elsewhere import run_at
from bench.figures import figures_of, lines_of
from bench.record import Record, begin, busy, comparison, read, today, write
from bench.results import RESULTS, keep
from bench.suite import BENCHMARKS, Length

_WORSE_THAN = 1.2


def measure(record: Record, names: list[str], length: Length, folder: Path | None) -> None:
    """Runs the benchmarks and prints their figures. One that breaks does not stop the others.

    `folder` gets a file for each, as soon as it is measured.
    """
    for name in names:
        click.echo(f"== {name}")
        now_busy = busy()
        try:
            figures = figures_of(BENCHMARKS[name](length))
        except (Exception, SystemExit) as error:  # noqa: BLE001 the others still count
            traceback.print_exc()
            record.failed[name] = repr(error)
            continue
        record.figures += figures
        record.busy = max(record.busy, now_busy)
        if folder:
            own = msgspec.structs.replace(
                record, date=today(), busy=round(now_busy, 2), figures=figures, failed={}
            )
            keep(name, own, folder)
        for line in lines_of(figures):
            click.echo(line)


def run_check(record: Record, json: Path | None) -> list[str]:
    """Measures the ratios of the short check. Returns what has halved."""
    record.figures = figures_of(check.measure())
    if json:
        write(record, json)
    return list(check.halved(record.figures))


def _compare(_context: click.Context, _option: click.Parameter, paths: tuple[Path, Path]) -> None:
    if paths:
        for line in comparison(read(paths[0]), read(paths[1]), _WORSE_THAN):
            click.echo(line)
        _context.exit()


def _path() -> click.Path:
    return click.Path(path_type=Path, dir_okay=False)


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--only", multiple=True, type=click.Choice(list(BENCHMARKS)), help="may be repeated")
@click.option("--short", "length", flag_value="short", help="a quick look")
@click.option("--usual", "length", flag_value="usual", default=True, hidden=True)
@click.option("--long", "length", flag_value="long", help="with millions of events")
@click.option(
    "--json",
    "json",
    type=click.Path(path_type=Path),
    is_flag=False,
    flag_value=str(RESULTS),
    help="write the figures to this file too [default: each benchmark to bench/results]",
)
@click.option("--check", "checks", is_flag=True, help="only whether a ratio has halved")
@click.option("--at", help="measure the code of this commit")
@click.option("--measured-by", hidden=True, help="the commit of these benchmarks")
@click.option(
    "--compare",
    nargs=2,
    type=_path(),
    callback=_compare,
    is_eager=True,
    expose_value=False,
    help="compare two files instead",
)
def main(
    only: tuple[str, ...],
    length: Length,
    json: Path | None,
    at: str | None,
    measured_by: str | None,
    *,
    checks: bool,
) -> None:
    names = list(only or BENCHMARKS)
    if at is not None:
        chosen = [f"--only={name}" for name in names]
        written = [f"--json={json.absolute()}"] if json else []
        sys.exit(run_at(at, [f"--{length}", *chosen, *written]))
    record = begin(length, measured_by)
    if checks:
        halved = run_check(record, json)
        for line in halved:
            click.echo(f"HALVED: {line}")
        sys.exit(1 if halved else 0)
    # Without a suffix it is a folder, in the work tree of `--at` too.
    folder = json if json and not json.suffix else None
    measure(record, names, length, folder)
    if json and not folder:
        write(record, json)
    if folder == RESULTS:
        documents.write_all()
    for name, reason in record.failed.items():
        click.echo(f"{name} was not measured: {reason}")
    sys.exit(1 if record.failed else 0)


if __name__ == "__main__":
    main(prog_name="python -m bench")
