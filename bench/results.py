"""The results that the repository keeps in `bench/results`, and what they prove."""

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec

from bench.record import PROJECT, Record, commit_of_head, cores, read, today, write

RESULTS = PROJECT / "bench" / "results"
CHAOS = RESULTS / "chaos.json"

# A release may differ from what was measured in these: they change no behaviour.
_WITHOUT_EFFECT = ("bench/results", "docs", "*.md", "shared/core/version.py")
_LEAST_MINUTES, _LEAST_FAULTS, _LEAST_SEEDS, _LEAST_ORGANIZATIONS = 60, 200, 2, 2


class Storm(msgspec.Struct, kw_only=True):
    """A run of `python -m bench.storm`. `problems` is empty if it passed."""

    seed: int
    minutes: float | None
    faults: int
    organizations: int
    problems: list[str]


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


def keep_storm(storm: Storm, path: Path = CHAOS) -> None:
    """Adds a run to those of the same commit. Runs of another commit are removed."""
    commit = commit_of_head()
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
