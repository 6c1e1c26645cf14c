"""Runs that become calls, of whatever kind, as a source for a dispatcher."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol, cast
from uuid import UUID

from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs import outcomes
from shared.evaluation.evaluation_jobs.answers import Answer, NoEvaluatorAnswer, Reading
from shared.evaluation.evaluation_jobs.claims import ClaimedJob, begin_deliveries
from shared.evaluation.evaluation_jobs.outcomes import Brought
from shared.evaluation.evaluation_jobs.rules import Finish, Step
from shared.evaluation.runs import budgets, claims
from shared.evaluation.runs.claims import HeldRun
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue import jobs
from shared.reading.sessions import evaluation_request
from shared.reading.sessions.evaluation_request import Built
from shared.reading.sessions.facts import SessionKey
from workers.evaluation_jobs.default_evaluator import MAX_REQUEST_BYTES, READ_SESSIONS
from workers.evaluation_jobs.source import Call


class CallKind(Protocol):
    """How a run of one kind becomes an answer; the rest is the same for all kinds."""

    def request(self, run: HeldRun, session: bytes) -> bytes:
        """Returns the request of a run, whose session is an EvalRequest."""
        ...

    def deliver(self, run: HeldRun, body: bytes) -> Call:
        """Sends a request."""
        ...

    def poll(self, run: HeldRun, evaluator_job_id: str) -> Call:
        """Asks for the result of a run that was delivered."""
        ...

    def read(self, run: HeldRun, answer: Answer | NoEvaluatorAnswer, now: datetime) -> Reading:
        """Classifies an answer."""
        ...


class CalledRuns:
    """The source of these runs."""

    task = jobs.CALL_EVALUATORS
    name = "own"

    def __init__(self, runtime: Runtime, kinds: Mapping[str, CallKind]) -> None:
        self._runtime = runtime
        self._kinds = kinds
        self.concurrency = runtime.settings.evaluator_calls

    def claim(self, session: Session, *, most: int) -> list[ClaimedJob]:
        """Takes up to `most` due runs."""
        return list(claims.claim(session, self._runtime.settings, most=most))

    def record(
        self, session: Session, brought: Sequence[tuple[ClaimedJob, Brought]]
    ) -> list[Step | None]:
        """Records outcomes, those of an evaluator together; returns the decision for each."""
        by_evaluator: dict[UUID, list[tuple[ClaimedJob, Brought]]] = defaultdict(list)
        for job, one in brought:
            by_evaluator[_run(job).definition.evaluator_id].append((job, one))
        steps: dict[UUID, Step | None] = {}
        # Evaluators in one order, so that two workers cannot wait for each other's breakers.
        for evaluator_id in sorted(by_evaluator):
            some = by_evaluator[evaluator_id]
            scope = _run(some[0][0]).definition.scope
            found = outcomes.record(session, scope, some, self._read)
            finished = [step.result for step in found if isinstance(step, Finish)]
            budgets.spend(session, evaluator_id, finished)
            steps.update(zip((job.row.id for job, _ in some), found, strict=True))
        return [steps[job.row.id] for job, _ in brought]

    def begin(self, session: Session, jobs: Sequence[ClaimedJob]) -> set[UUID]:
        """Counts an attempt of each run; returns the ids of those that may be sent."""
        by_evaluator: dict[UUID, list[ClaimedJob]] = defaultdict(list)
        for job in jobs:
            by_evaluator[_run(job).definition.evaluator_id].append(job)
        begun: set[UUID] = set()
        for some in by_evaluator.values():
            begun |= begin_deliveries(session, _run(some[0]).definition.scope, some)
        return begun

    def max_attempts(self, job: ClaimedJob) -> int:
        """Returns how often a run is delivered at most."""
        return _run(job).definition.limits.max_attempts

    def built(self, jobs: Sequence[ClaimedJob]) -> Iterator[list[tuple[ClaimedJob, Built]]]:
        """Yields the runs with their requests, some at a time; reads a session once for all."""
        for group in _groups(jobs):
            keys = list(group)
            until = {key: group[key][0].row.revision for key in keys}
            for part in evaluation_request.build_many(
                self._runtime.clickhouse, keys, max_bytes=MAX_REQUEST_BYTES, until=until
            ):
                yield [
                    (run, self._request(run, built))
                    for key, built in part.items()
                    for run in group[key]
                ]

    def deliver(self, job: ClaimedJob, body: bytes) -> Call:
        """Sends the request of a run."""
        return self._kind(job).deliver(_run(job), body)

    def poll(self, job: ClaimedJob, evaluator_job_id: str) -> Call:
        """Asks for the result of a run that was delivered."""
        return self._kind(job).poll(_run(job), evaluator_job_id)

    def _request(self, run: HeldRun, built: Built) -> Built:
        return self._kind(run).request(run, built) if isinstance(built, bytes) else built

    def _read(self, job: ClaimedJob, answer: Answer | NoEvaluatorAnswer, now: datetime) -> Reading:
        return self._kind(job).read(_run(job), answer, now)

    def _kind(self, job: ClaimedJob) -> CallKind:
        return self._kinds[_run(job).definition.kind]


def _run(job: ClaimedJob) -> HeldRun:
    return cast("HeldRun", job)


def _groups(jobs: Sequence[ClaimedJob]) -> Iterator[dict[SessionKey, list[HeldRun]]]:
    """Yields runs by session, few sessions at a time, each at one revision."""
    by_reading: dict[tuple[SessionKey, int], list[HeldRun]] = defaultdict(list)
    for job in jobs:
        run = _run(job)
        by_reading[SessionKey(str(run.row.org_id), run.row.session_id), run.row.revision].append(
            run
        )
    left = list(by_reading.items())
    while left:
        group: dict[SessionKey, list[HeldRun]] = {}
        later = []
        for (key, revision), runs in left:
            if key in group or len(group) == READ_SESSIONS:
                later.append(((key, revision), runs))
            else:
                group[key] = runs
        yield group
        left = later
