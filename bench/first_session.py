"""Measures how long a new user of the collector waits for the first session.

    python -m bench.first_session [--runs 3]

Installs the wheel beside a deployment that runs, into an empty environment of Python, and imports
the transcript of Claude Code in WATCHPOST_SHARED. Medians of the runs, in seconds:

install      `pip install` of the wheel
import       `watchpost-collect import` of the transcript
readable     from the end of the import until GET /v1/sessions shows the session
whole        all of this
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import click

# Lets `python bench/first_session.py` find its neighbours, as `python -m` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.deployments import deployed
from bench.figures import figures_of, lines_of
from bench.imports import transcript
from bench.posting import Poster
from devstack.up.deployment import Deployment

_PROJECT = Path(__file__).resolve().parents[1]


def first_session(deployment: Deployment, wheel: Path, folder: Path, number: int) -> list[float]:
    """Returns the moments of the steps in `folder`: the start, and the end of each."""
    environment = folder / "environment"
    _run(sys.executable, "-m", "venv", environment)
    file = folder / "transcript.jsonl"
    file.write_bytes(transcript(number, turns=1))
    poster = Poster(int(deployment.environ["PORT"]), deployment.admin_key)
    given = {"WATCHPOST_URL": deployment.url, "WATCHPOST_KEY": deployment.admin_key}
    moments = [time.monotonic()]
    _run(environment / "bin/pip", "install", "--quiet", "--no-index", wheel)
    moments.append(time.monotonic())
    _run(environment / "bin/watchpost-collect", "import", file, HOME=str(folder), **given)
    moments.append(time.monotonic())
    while not _is_readable(poster, f"session-{number:06}"):
        time.sleep(0.01)
    moments.append(time.monotonic())
    poster.close()
    return moments


def _is_readable(poster: Poster, session_id: str) -> bool:
    status, body = poster.get(f"/v1/sessions?session_id={session_id}")
    if status != 200:
        raise SystemExit(f"GET /v1/sessions answered {status}: {body!r}")
    return bool(json.loads(body)["sessions"])


def _run(*words: str | Path, **given: str) -> None:
    subprocess.run(
        words, env={**os.environ, **given}, check=True, cwd="/", stdout=subprocess.DEVNULL
    )


def measure(runs: int = 3) -> dict[str, float]:
    """Returns the seconds of each step, and of all."""
    with (
        tempfile.TemporaryDirectory(prefix="watchpost-bench-") as folder,
        deployed(lambda _: None) as deployment,
    ):
        built = Path(folder) / "built"
        _run(_PROJECT / "bin/collector-wheel", built)
        [wheel] = built.iterdir()
        times = []
        for number in range(runs):
            place = Path(folder) / str(number)
            place.mkdir()
            times.append(first_session(deployment, wheel, place, number))
    return {
        "first_session.install": _median(times, 0, 1),
        "first_session.import": _median(times, 1, 2),
        "first_session.readable": _median(times, 2, 3),
        "first_session.whole": _median(times, 0, 3),
    }


def _median(times: Sequence[Sequence[float]], start: int, end: int) -> float:
    return statistics.median(one[end] - one[start] for one in times)


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--runs", default=3, show_default=True)
def main(runs: int) -> None:
    for line in lines_of(figures_of(measure(runs))):
        click.echo(line)


if __name__ == "__main__":
    main()
