"""Works on one assignment: reads its session, runs what is due, and submits what came out."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from watchpost_evaluator.definition import Evaluator
from watchpost_evaluator.errors import KitError
from watchpost_evaluator.outcome import Outcome, run
from watchpost_evaluator.protocol import (
    Assignment,
    PlannedRun,
    ProtocolError,
    Timings,
    WorkerClient,
)
from watchpost_evaluator.session import Session

# A plan says for good what is skipped, and only a run shows it. So runs begin before the plan,
# which waits for them, for at most this share of the lease.
_SHARE_BEFORE_PLAN = 1 / 3
_LOST = ("lease_lost", "run_not_found", "assignment_not_found", "submission_conflict")

Catalogue = Mapping[tuple[str, str], Evaluator]


@dataclass
class RunningEvaluator:
    """An evaluator that runs, and its outcome once it is there."""

    evaluator: Evaluator
    done: threading.Event = field(default_factory=threading.Event)
    outcome: Outcome | None = None

    def work(self, session: Session, places: threading.Semaphore) -> None:
        """Runs it as soon as there is a place."""
        with places:
            self.outcome = run(self.evaluator, session)
        self.done.set()

    @property
    def reason(self) -> str | None:
        """Returns why it skipped the session, None if it did not or still runs."""
        return None if self.outcome is None else self.outcome.reason


class AssignedWork:
    """One assignment of this worker."""

    def __init__(
        self,
        assignment: Assignment,
        client: WorkerClient,
        timings: Timings,
        catalogue: Catalogue,
        places: threading.Semaphore,
    ) -> None:
        self._assignment = assignment
        self._client = client
        self._timings = timings
        self._catalogue = catalogue
        self._places = places
        self._lost: set[str] = set()
        self._left: set[str] = set()
        self._ended = threading.Event()

    def process(self) -> None:
        """Does all of it. What fails is told on standard error; its lease ends by itself."""
        try:
            self._process()
        except KitError as error:
            code = f"{error.code}: " if isinstance(error, ProtocolError) else ""
            _tell(f"the assignment of {self._assignment.session_id} failed: {code}{error}")
        finally:
            self._ended.set()

    def _process(self) -> None:
        client, assignment = self._client, self._assignment
        session = Session(client.transcript(assignment))
        wanted = client.definitions(assignment)
        absent = [f"{key}@{version}" for key, version in wanted if not self._has(key, version)]
        if absent:
            raise KitError(f"this worker has no {', '.join(absent)}")
        disabled = [one for one in wanted if one[0] in self._timings.disabled]
        runs = {one: self._start(one, session) for one in wanted if one not in disabled}
        self._wait_before_plan(runs.values())
        skipped = [(*name, one.reason) for name, one in runs.items() if one.reason is not None]
        selected = [one.evaluator for one in runs.values() if one.reason is None]
        reasons = [*skipped, *((*name, "disabled_by_server") for name in disabled)]
        planned = client.plan(assignment, selected, reasons)
        for key, version, reason in skipped:
            _tell(f"{key}@{version} on {session.id}: skipped, {reason}")
        self._finish(planned, runs, session)

    def _has(self, key: str, version: str) -> bool:
        return (key, version) in self._catalogue

    def _start(self, name: tuple[str, str], session: Session) -> RunningEvaluator:
        running = RunningEvaluator(self._catalogue[name])
        threading.Thread(target=running.work, args=(session, self._places), daemon=True).start()
        return running

    def _wait_before_plan(self, runs: Iterable[RunningEvaluator]) -> None:
        ends = self._assignment.claimed_at + self._timings.lease_secs * _SHARE_BEFORE_PLAN
        for one in runs:
            one.done.wait(max(0.0, ends - time.monotonic()))

    def _finish(
        self,
        planned: Sequence[PlannedRun],
        runs: Mapping[tuple[str, str], RunningEvaluator],
        session: Session,
    ) -> None:
        """Keeps the lease while something runs, and submits each outcome when it is there."""
        self._left = {one.id for one in planned}
        if planned:
            threading.Thread(target=self._beat, daemon=True).start()
        submitting = [
            threading.Thread(target=self._submit, args=(one, runs, session), daemon=True)
            for one in planned
        ]
        for thread in submitting:
            thread.start()
        for thread in submitting:
            thread.join()

    def _submit(
        self,
        planned: PlannedRun,
        runs: Mapping[tuple[str, str], RunningEvaluator],
        session: Session,
    ) -> None:
        running = runs.get((planned.key, planned.version))
        if running is None:
            _tell(f"Watchpost waits for {planned.key}@{planned.version}, which is not due here")
            return
        running.done.wait()
        outcome = running.outcome
        self._left.discard(planned.id)
        if outcome is None or planned.id in self._lost:
            _tell(f"{running.evaluator.name} on {session.id}: its lease was lost")
            return
        try:
            self._client.submit(self._assignment, planned.id, outcome)
        except KitError as error:
            _tell(f"{running.evaluator.name} on {session.id}: not stored, {error}")
        else:
            took = f"{outcome.status}, {outcome.duration_ms} ms"
            _tell(f"{running.evaluator.name} on {session.id}: {took}")

    def _beat(self) -> None:
        """Renews the lease at once, as the time before the plan used some of it, and then often."""
        while not self._ended.is_set() and self._left:
            left = sorted(self._left)
            try:
                accepted = self._client.heartbeat(self._assignment, left)
                self._lost.update(one for one in left if one not in accepted)
            except ProtocolError as error:
                if error.code in _LOST:
                    self._lost.update(left)
                    return
                _tell(f"a heartbeat failed: {error.code}: {error}")
            except KitError as error:
                _tell(f"a heartbeat failed: {error}")
            self._ended.wait(self._timings.heartbeat_secs)


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
