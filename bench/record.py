"""A run of `python -m bench` as JSON, and the comparison of two of them."""

import os
import platform
import subprocess
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import psutil
import psycopg2
import redis
from clickhouse_driver import Client

from bench.figures import Figure
from devstack import DevStack
from devstack.ports import Ports

PROJECT = Path(__file__).resolve().parents[1]
_LOOK_SECS = 3.0
_NOT_MEASURED = ("bench", "docs", "tests", "*.md")


class Record(msgspec.Struct, kw_only=True):
    """The figures of a run.

    `changed`: files that are measured differ from the commit. `busy`: the processors that other
    work took just before. `failed` has the reason of each benchmark that
    could not be run. `measured_by` is the commit of the benchmarks themselves.
    """

    commit: str
    measured_by: str
    changed: bool
    date: str
    length: str
    cores: int
    versions: dict[str, str]
    busy: float = 0.0
    figures: list[Figure] = []
    failed: dict[str, str] = {}


def begin(length: str, measured_by: str | None) -> Record:
    """Returns a record without figures. `measured_by` is this commit by default."""
    commit = commit_of_head()
    return Record(
        commit=commit,
        measured_by=measured_by or commit,
        changed=is_changed(_NOT_MEASURED),
        date=today(),
        length=length,
        cores=cores(),
        versions={"python": platform.python_version(), **_store_versions()},
    )


def commit_of_head(project: Path = PROJECT) -> str:
    """Returns the commit of the work tree."""
    return _git("rev-parse", "--short", "HEAD", project=project)


def is_changed(without: Iterable[str], project: Path = PROJECT) -> bool:
    """Returns whether files of the work tree differ from its commit, apart from these."""
    but = (f":!{name}" for name in without)
    return bool(_git("status", "--porcelain", "--", ".", *but, project=project))


def today() -> str:
    """Returns the moment as a record has it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def cores() -> int:
    """Returns the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def busy() -> float:
    """Returns the number of processors that the machine's work takes now."""
    share: float = psutil.cpu_percent(interval=_LOOK_SECS) / 100
    return share * (psutil.cpu_count() or 1)


def read(path: Path) -> Record:
    """Reads a record."""
    return msgspec.json.decode(path.read_bytes(), type=Record)


def write(record: Record, path: Path) -> None:
    """Writes a record."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")


def comparison(before: Record, after: Record, worse_than: float) -> Iterator[str]:
    """Yields a line for each figure of both: the values, their ratio and a warning.

    A figure that became worse by more than the factor `worse_than` has a warning.
    """
    earlier = {figure.name: figure for figure in before.figures}
    width = max((len(figure.name) for figure in after.figures), default=0)
    yield f"{'':{width}}{before.commit:>14}{after.commit:>14}{'ratio':>8}"
    for figure in after.figures:
        if figure.name not in earlier:
            yield f"{figure.name:{width}}{'-':>14}{figure.value:>14,.4g}"
            continue
        was = earlier[figure.name].value
        ratio = figure.value / was if was else float("inf") if figure.value else 1.0
        shown = f"{figure.name:{width}}{was:>14,.4g}{figure.value:>14,.4g}{ratio:>8.2f}"
        yield shown + (" WORSE" if is_worse(figure, was, worse_than) else "")


def is_worse(figure: Figure, was: float, factor: float) -> bool:
    """Returns whether the value became worse than an earlier one by more than the factor."""
    if figure.better == "more":
        return figure.value * factor < was
    return figure.value > was * factor


def _git(*arguments: str, project: Path = PROJECT) -> str:
    command = ["git", "-C", str(project), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _store_versions() -> dict[str, str]:
    """Returns the versions of the servers that benchmarks start."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="watchpost-bench-") as folder:
        Path(folder).chmod(0o755)
        with DevStack(folder, Ports.free()) as stack:
            return _versions_of(stack)


def _versions_of(stack: DevStack) -> dict[str, str]:
    clickhouse = Client.from_url(stack.urls.clickhouse_url)
    (row,) = clickhouse.execute("SELECT version()")
    clickhouse.disconnect()
    with redis.Redis.from_url(stack.urls.redis_url) as client:
        told = client.info("server")
    connection = psycopg2.connect(stack.urls.database_url)
    version = connection.server_version
    connection.close()
    return {
        "clickhouse": row[0],
        "redis": str(told.get("valkey_version", told["redis_version"])),
        "postgres": f"{version // 10_000}.{version % 10_000}",
    }
