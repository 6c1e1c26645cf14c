"""The results that the repository keeps in `bench/results`, and what they prove.

    python -m bench.results [FILE]

ends with an error if the storms in FILE do not suffice for a release of the current commit. FILE is
`bench/results/chaos.json` by default.
"""

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click
import msgspec

from bench.record import PROJECT, Record, commit_of_head, cores, is_changed, read, today, write

RESULTS = PROJECT / "bench" / "results"
CHAOS = RESULTS / "chaos.json"

# A release may differ from what was measured in these: they change no behaviour.
_WITHOUT_EFFECT = ("bench/results", "docs", "*.md", "shared/foundation/core/version.py")
_LEAST_MINUTES, _LEAST_FAULTS, _LEAST_SEEDS, _LEAST_ORGANIZATIONS = 60, 200, 2, 2


class Storm(msgspec.Struct, kw_only=True):
    """A run of `python -m bench.storm`. `problems` is empty if it passed.

    `changed`: files that matter for a release differed from the commit when it began.
    """

    seed: int
    minutes: float | None
    faults: int
    organizations: int
    problems: list[str]
    changed: bool = False


class Origin(NamedTuple):
    """The code that a storm runs: its commit, and whether files differ from it."""

    commit: str
    changed: bool


class Chaos(msgspec.Struct, kw_only=True):
    """The storms at one commit."""

    commit: str
    date: str
    cores: int
    runs: list[Storm] = []


def keep(name: str, record: Record, folder: Path = RESULTS) -> None:
    """Writes the figures of a benchmark into a file of its own, with the digits that count."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = [replace(figure, value=float(f"{figure.value:.6g}")) for figure in record.figures]
    write(msgspec.structs.replace(record, figures=figures), folder / f"{name}.json")


def read_results(folder: Path = RESULTS) -> Iterator[Record]:
    """Yields the kept figures of each benchmark."""
    for path in sorted(folder.glob("*.json")):
        if path.name != CHAOS.name:
            yield read(path)


def origin(project: Path = PROJECT) -> Origin:
    """Returns the code of the work tree. Ask before the storm: it may be another an hour later."""
    return Origin(commit_of_head(project), is_changed(_WITHOUT_EFFECT, project))


def keep_storm(storm: Storm, commit: str, path: Path = CHAOS) -> None:
    """Adds a run to those of the same commit. Runs of another commit are removed."""
    chaos = read_chaos(path)
    if chaos is None or chaos.commit != commit:
        chaos = Chaos(commit=commit, date=today(), cores=cores())
    chaos.runs.append(storm)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(chaos), indent=2) + b"\n")


def read_chaos(path: Path = CHAOS) -> Chaos | None:
    """Reads the storms; None if there is no result yet."""
    return msgspec.json.decode(path.read_bytes(), type=Chaos) if path.exists() else None


def missing_for_release(chaos: Chaos | None, project: Path = PROJECT) -> str | None:
    """Returns what the storms lack for a release of the current commit, or None."""
    if chaos is None:
        return "there is no result of `bin/test --chaos`"
    changed = [f":!{name}" for name in _WITHOUT_EFFECT]
    command = ["git", "diff", "--quiet", chaos.commit, "HEAD", "--", ".", *changed]
    if subprocess.run(command, cwd=project, capture_output=True).returncode != 0:
        return f"the code has changed since {chaos.commit}, at which `bin/test --chaos` ran"
    if any(run.changed for run in chaos.runs):
        return f"`bin/test --chaos` ran with changes that {chaos.commit} does not have"
    if any(run.problems for run in chaos.runs):
        return "a run of `bin/test --chaos` found problems"
    if len({run.seed for run in chaos.runs if _is_whole(run)}) < _LEAST_SEEDS:
        return "`bin/test --chaos` has to pass for an hour with two seeds"
    return None


def _is_whole(run: Storm) -> bool:
    return (
        (run.minutes or 0) >= _LEAST_MINUTES
        and run.faults >= _LEAST_FAULTS
        and run.organizations >= _LEAST_ORGANIZATIONS
    )


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.argument("file", type=click.Path(path_type=Path), default=CHAOS)
def main(file: Path) -> None:
    if (reason := missing_for_release(read_chaos(file))) is not None:
        raise SystemExit(f"This commit is not fit for a release: {reason}.")


if __name__ == "__main__":
    main(prog_name="python -m bench.results")
