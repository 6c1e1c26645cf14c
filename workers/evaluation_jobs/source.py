"""Where a dispatcher takes jobs from, and how each of them becomes a call."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import Protocol
from uuid import UUID

from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs.answers import Answer, NoEvaluatorAnswer
from shared.evaluation.evaluation_jobs.claims import ClaimedJob
from shared.evaluation.evaluation_jobs.outcomes import Brought
from shared.evaluation.evaluation_jobs.rules import Step
from shared.foundation.queue import Task
from shared.reading.sessions.evaluation_request import Built

Call = Future[Answer | NoEvaluatorAnswer]


class CallSource(Protocol):
    """Jobs with calls to evaluators; methods with a session work in its transaction.

    `task` is nudged when there may be more. `name` is that of the evaluators in metrics.
    `concurrency` is the most calls that a process makes at once.
    """

    @property
    def task(self) -> Task: ...

    @property
    def name(self) -> str: ...

    @property
    def concurrency(self) -> int: ...

    def claim(self, session: Session, *, most: int) -> list[ClaimedJob]:
        """Takes up to `most` due jobs."""
        ...

    def record(
        self, session: Session, brought: Sequence[tuple[ClaimedJob, Brought]]
    ) -> list[Step | None]:
        """Records outcomes; returns the decision for each, None if another worker has the job."""
        ...

    def begin(self, session: Session, jobs: Sequence[ClaimedJob]) -> set[UUID]:
        """Counts an attempt of each job; returns the ids of those that may be sent."""
        ...

    def max_attempts(self, job: ClaimedJob) -> int:
        """Returns how often a job is delivered at most."""
        ...

    def built(self, jobs: Sequence[ClaimedJob]) -> Iterator[list[tuple[ClaimedJob, Built]]]:
        """Yields the jobs with their requests, some at a time; each job once."""
        ...

    def deliver(self, job: ClaimedJob, body: bytes) -> Call:
        """Sends the request of a job."""
        ...

    def poll(self, job: ClaimedJob, evaluator_job_id: str) -> Call:
        """Asks for the result of a job that was delivered."""
        ...
