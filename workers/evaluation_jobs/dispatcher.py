"""Works through due jobs: claim one, call the evaluator, record the answer, claim the next.

No transaction is open during a call, and no job waits for another one: a call that hangs occupies
one lease and one thread until its timeout.
"""

import threading

from shared.core.errors import QueryTimeout, Unavailable
from shared.core.logs import get_logger, request_context
from shared.deployment.runtime import Runtime
from shared.evaluation_jobs import claims, outcomes, rules
from shared.evaluation_jobs.answers import Answer, NoAnswer
from shared.evaluation_jobs.claims import ClaimedJob
from shared.evaluation_jobs.rules import Finish, Step
from shared.postgres import after_commit
from shared.queue import jobs
from shared.queue.work_loop import claimed
from shared.sessions import evaluation_request
from shared.sessions.evaluation_request import EvaluationRequestTooLarge
from workers.evaluation_jobs.client import EvaluatorClient

log = get_logger(__name__)

MAX_REQUEST_BYTES = 25 * 1024 * 1024

# The delay if ClickHouse cannot return the session. This uses up no attempt.
STORE_RETRY_SECS = 5.0


class EvaluationDispatcher:
    """One thread's turn at the due jobs; `stopping` ends it after the call in flight."""

    def __init__(
        self, runtime: Runtime, client: EvaluatorClient, stopping: threading.Event
    ) -> None:
        self._runtime = runtime
        self._client = client
        self._stopping = stopping

    def run(self) -> int:
        """Works until nothing is due, every place is taken or the turn is over.

        Returns the job count.
        """
        due = claimed(self._runtime.queue, jobs.RUN_EVALUATIONS, self._claim, self._stopping)
        return sum(1 for _ in map(self._handle, due))

    def _claim(self) -> ClaimedJob | None:
        with self._runtime.postgres.transaction() as session:
            return claims.claim(session, self._runtime.settings)

    def _handle(self, job: ClaimedJob) -> None:
        with request_context(job.row.request_id, job_id=str(job.row.id)):
            try:
                polled = job.row.evaluator_job_id
                step = self._deliver(job) if polled is None else self._poll(job, polled)
            except (Unavailable, QueryTimeout):
                # A store is down or slow, which is not the job's fault.
                with self._runtime.postgres.transaction() as session:
                    claims.give_back(session, job, after_secs=STORE_RETRY_SECS)
                return
            log.info(
                "evaluation_step",
                session_id=job.row.session_id,
                step="lease_lost" if step is None else type(step).__name__.lower(),
                error=_error_of(step),
            )

    def _poll(self, job: ClaimedJob, evaluator_job_id: str) -> Step | None:
        answer = self._client.poll(
            evaluator_job_id, job_id=str(job.row.id), request_id=job.row.request_id
        )
        return self._record(job, answer)

    def _deliver(self, job: ClaimedJob) -> Step | None:
        settings = self._runtime.settings
        if job.row.attempt_count >= settings.evaluator_max_attempts:
            return self._record(job, rules.failure("the worker died during the last attempt"))
        try:
            body = evaluation_request.build(
                self._runtime.clickhouse,
                str(job.row.org_id),
                job.row.session_id,
                max_bytes=MAX_REQUEST_BYTES,
            )
        except EvaluationRequestTooLarge as error:
            return self._record(job, rules.failure(str(error)))
        if body is None:
            return self._record(job, rules.failure("the session has no events"))
        with self._runtime.postgres.transaction() as session:
            held = claims.begin_delivery(session, settings, job)
        if not held:
            return None
        answer = self._client.evaluate(body, job_id=str(job.row.id), request_id=job.row.request_id)
        return self._record(job, answer)

    def _record(self, job: ClaimedJob, brought: Answer | NoAnswer | Finish) -> Step | None:
        with self._runtime.postgres.transaction() as session:
            step = outcomes.record(session, self._runtime.settings, job, brought)
            if isinstance(step, Finish):
                queue = self._runtime.queue
                after_commit(session, lambda: queue.nudge_soon(jobs.STORE_EVALUATIONS))
        return step


def _error_of(step: Step | None) -> str | None:
    if step is None:
        return None
    return step.result.error if isinstance(step, Finish) else step.error
