"""The jobs of the deployment's evaluator, which the variables EVALUATOR_* describe."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs import claims, outcomes
from shared.evaluation.evaluation_jobs.claims import ClaimedJob
from shared.evaluation.evaluation_jobs.evaluator_config import evaluator_name
from shared.evaluation.evaluation_jobs.outcomes import Brought
from shared.evaluation.evaluation_jobs.rules import Step
from shared.evaluation.evaluation_jobs.scope import default_scope
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue import jobs
from shared.reading.sessions import evaluation_request
from shared.reading.sessions.evaluation_request import Built
from shared.reading.sessions.facts import SessionKey
from workers.evaluation_jobs.client import EvaluatorClient
from workers.evaluation_jobs.source import Call

MAX_REQUEST_BYTES = 25 * 1024 * 1024

# Sessions that are read together. More of them share the cost of a query, but start later. Calls
# that start together would end together, and all their places would wait for the next read.
READ_SESSIONS = 8


class DefaultEvaluator:
    """The source of these jobs."""

    task = jobs.RUN_EVALUATIONS

    def __init__(self, runtime: Runtime, client: EvaluatorClient) -> None:
        self._runtime = runtime
        self._client = client
        self.name = evaluator_name(runtime.settings)
        self.concurrency = runtime.settings.evaluator_concurrency

    def claim(self, session: Session, *, most: int) -> list[ClaimedJob]:
        """Takes up to `most` due jobs."""
        return claims.claim(session, self._runtime.settings, most=most)

    def record(
        self, session: Session, brought: Sequence[tuple[ClaimedJob, Brought]]
    ) -> list[Step | None]:
        """Records outcomes; returns the decision for each, None if another worker has the job."""
        if not brought:
            return []
        return outcomes.record(session, default_scope(session, self._runtime.settings), brought)

    def begin(self, session: Session, jobs: Sequence[ClaimedJob]) -> set[UUID]:
        """Counts an attempt of each job; returns the ids of those that may be sent."""
        scope = default_scope(session, self._runtime.settings)
        return claims.begin_deliveries(session, scope, jobs)

    def max_attempts(self, _job: ClaimedJob) -> int:
        """Returns how often a job is delivered at most."""
        return self._runtime.settings.evaluator_max_attempts

    def built(self, jobs: Sequence[ClaimedJob]) -> Iterator[list[tuple[ClaimedJob, Built]]]:
        """Yields the jobs with their requests, some at a time; each job once."""
        by_session = {SessionKey(str(job.row.org_id), job.row.session_id): job for job in jobs}
        keys = list(by_session)
        for start in range(0, len(keys), READ_SESSIONS):
            group = keys[start : start + READ_SESSIONS]
            for part in evaluation_request.build_many(
                self._runtime.clickhouse, group, max_bytes=MAX_REQUEST_BYTES
            ):
                yield [(by_session[key], built) for key, built in part.items()]

    def deliver(self, job: ClaimedJob, body: bytes) -> Call:
        """Sends the request of a job."""
        return self._client.evaluate(body, job_id=str(job.row.id), request_id=job.row.request_id)

    def poll(self, job: ClaimedJob, evaluator_job_id: str) -> Call:
        """Asks for the result of a job that was delivered."""
        return self._client.poll(
            evaluator_job_id, job_id=str(job.row.id), request_id=job.row.request_id
        )
