"""Plays the demonstration: sends a recording in a burst and waits for the results."""

import time
from collections import Counter
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from devstack.up.api import Api, Row
from devstack.up.dashboard import Board, show_dashboard
from devstack.up.figures import Figures, ask_figures
from devstack.up.oversight import Oversight, oversee
from devstack.up.recording import Recording, record
from devstack.up.trace import Trace, send_trace

_BATCH = 250
_EVALUATING_SECONDS = 120.0
_POLL_SECONDS = 0.5
_EVALUATIONS_A_PAGE = 200


@dataclass(frozen=True)
class Played:
    """The recording, the number of events that the service accepted, and its results.

    `failures` counts the ended sessions without scores by the reason. `board` is None where SQL is
    not served.
    """

    recording: Recording
    accepted: int
    skipped: int
    evaluations: tuple[Row, ...]
    figures: Figures
    oversight: Oversight
    trace: Trace
    board: Board | None
    failures: Counter[str]


def play(api: Api, console: Console, *, sql: bool) -> Played:
    """Sends a fresh recording and waits up to two minutes until each ended session is evaluated.

    Then sets up an alert, an audit and a dashboard, and sends a trace as exporters do. `sql` False
    leaves out what is queried in SQL.
    """
    recording = record()
    with Progress(
        TextColumn("{task.description:<20}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
    ) as progress:
        accepted, skipped = _send(api, recording, progress)
        evaluations = _wait_for_evaluations(api, recording, progress)
    figures = ask_figures(api, recording, sql=sql)
    oversight = oversee(api, recording)
    trace = send_trace(api)
    return Played(
        recording,
        accepted,
        skipped,
        tuple(evaluations),
        figures,
        oversight,
        trace,
        show_dashboard(api, recording) if sql else None,
        failures_of(api, recording, evaluations),
    )


def _send(api: Api, recording: Recording, progress: Progress) -> tuple[int, int]:
    bar = progress.add_task("events sent", total=len(recording.lines))
    accepted = skipped = 0
    for start in range(0, len(recording.lines), _BATCH):
        batch = recording.lines[start : start + _BATCH]
        answer = api.post_events(batch)
        accepted += answer["accepted"]
        skipped += answer["skipped"]
        progress.advance(bar, len(batch))
    return accepted, skipped


def _wait_for_evaluations(api: Api, recording: Recording, progress: Progress) -> list[Row]:
    ended = recording.ended_session_ids
    bar = progress.add_task("sessions evaluated", total=len(ended))
    deadline = time.monotonic() + _EVALUATING_SECONDS
    while True:
        evaluations = list(api.rows("evaluations", ended, _EVALUATIONS_A_PAGE))
        evaluated = {row["session_id"] for row in evaluations}
        progress.update(bar, completed=len(evaluated))
        if len(evaluated) == len(ended) or time.monotonic() > deadline:
            return evaluations
        time.sleep(_POLL_SECONDS)


def failures_of(api: Api, recording: Recording, evaluations: list[Row]) -> Counter[str]:
    """Counts the ended sessions without scores by what the evaluator did wrong."""
    failed = Counter(_reason(row["error"]) for row in evaluations if row["status"] != "done")
    waiting = set(recording.ended_session_ids) - {row["session_id"] for row in evaluations}
    if waiting:
        jobs = api.get("/v1/evaluation-jobs", {"limit": "500"})["jobs"]
        last = {row["session_id"]: row["last_error"] for row in jobs}
        failed.update(_reason(last.get(session_id)) for session_id in waiting)
    return failed


def _reason(error: str | None) -> str:
    return error or "no answer of the evaluator yet"
