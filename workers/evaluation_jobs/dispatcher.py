"""Works through due jobs, many at once: claim, read, call, record, claim again.

One thread records outcomes and claims jobs, both in one transaction. A claim's sessions are read in
a thread of their own, so a large session delays no outcome. Calls run on the client's event loop.
No transaction is open during a call, and a call that hangs only occupies one place.
"""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future

from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs import claims, rules
from shared.evaluation.evaluation_jobs.answers import Answer, NoEvaluatorAnswer
from shared.evaluation.evaluation_jobs.claims import ClaimedJob
from shared.evaluation.evaluation_jobs.rules import Finish, Poll, Step
from shared.foundation.core.clock import now
from shared.foundation.core.errors import QueryTimeout, Unavailable
from shared.foundation.core.logs import get_logger, request_context
from shared.foundation.core.metrics.catalogue import EVALUATION_AGE, EVALUATION_OUTCOMES
from shared.foundation.core.tracing import spans
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue import jobs
from shared.reading.sessions.evaluation_request import Built, EvaluationRequestTooLarge
from workers.evaluation_jobs.flights import Flights, JobNotSent, Outcome
from workers.evaluation_jobs.source import CallSource

log = get_logger(__name__)

# The delay if ClickHouse cannot return the session. This uses up no attempt.
STORE_RETRY_SECS = 5.0

# While calls are in flight, new due jobs wait no longer than this.
LOOK_SECS = 0.15

# Results are stored this often.
STORE_SECS = 0.25

# Claims whose sessions are read at the same time: one large session does not stop all calls.
MAX_READS = 2

# While PostgreSQL is down, outcomes wait this long between two attempts to record them.
RECORD_RETRY_SECS = 1.0

# A turn without a pause ends after this, long before Dramatiq's limit for a message.
TURN_SECS = 3600.0


class EvaluationDispatcher:
    """The dispatcher of a process for one source of jobs; one thread at a time has the turn.

    `stopping` ends the turn after the calls in flight.
    """

    def __init__(self, runtime: Runtime, source: CallSource, stopping: threading.Event) -> None:
        self._runtime = runtime
        self._source = source
        self._stopping = stopping
        self._turn = threading.Lock()
        self._flights = Flights()
        self._reads: set[threading.Thread] = set()
        self._has_results, self._nudge_storing_at = False, 0.0

    def run(self) -> int:
        """Works until nothing is due or in flight; returns the number of outcomes.

        Returns at once if another thread has the turn, because that thread looks again.
        """
        self._flights.ask()
        if not self._turn.acquire(blocking=False):
            return 0
        try:
            return self._take_turn()
        finally:
            self._turn.release()
            if self._flights.was_asked():
                self._runtime.queue.nudge_soon(self._source.task)

    def _take_turn(self) -> int:
        ends, recorded, is_first = time.monotonic() + TURN_SECS, 0, True
        while True:
            self._flights.was_asked()
            is_over = self._stopping.is_set() or time.monotonic() > ends
            landed, claimed = self._exchange(0 if is_over else self._places())
            recorded += landed
            self._start(claimed)
            self._nudge_storing()
            if claimed and is_first:
                # Another process looks as well.
                self._runtime.queue.nudge_soon(self._source.task)
                is_first = False
            if not self._flights.held:
                if is_over:
                    self._flights.ask()
                return recorded
            self._flights.wait(LOOK_SECS)

    def _places(self) -> int:
        """Returns how many jobs this process may claim now."""
        if len(self._reads) >= MAX_READS:
            return 0
        return self._source.concurrency - self._flights.in_the_air

    def _exchange(self, most: int) -> tuple[int, list[ClaimedJob]]:
        """Records outcomes and claims up to `most` jobs, in one transaction.

        Returns the number of outcomes, and the jobs.
        """
        landed = self._flights.landed()
        if not landed and most <= 0:
            return 0, []
        try:
            with self._runtime.postgres.transaction() as session:
                steps = _record(session, self._source, landed)
                claimed = self._source.claim(session, most=most)
        except Unavailable:
            if self._stopping.is_set() or not self._flights.held:
                raise
            self._stopping.wait(RECORD_RETRY_SECS)
            return 0, []
        self._flights.replace(len(landed), len(claimed))
        for (job, outcome), step in zip(landed, steps, strict=True):
            _log(job, outcome, step)
            self._count(job, outcome, step)
            self._has_results |= isinstance(step, Finish)
        return len(landed), claimed

    def _count(self, job: ClaimedJob, outcome: Outcome, step: Step | None) -> None:
        if isinstance(outcome, JobNotSent):
            return
        evaluator = self._source.name
        EVALUATION_OUTCOMES.add(1, evaluator, outcome_name(step))
        if isinstance(step, Finish):
            age_secs = (now() - job.row.enqueued_at).total_seconds()
            EVALUATION_AGE.observe(max(0.0, age_secs), evaluator)

    def _start(self, claimed: Sequence[ClaimedJob]) -> None:
        deliveries = []
        for job in claimed:
            if job.row.evaluator_job_id is not None:
                self._await(job, self._source.poll(job, job.row.evaluator_job_id))
            elif job.row.attempt_count >= self._source.max_attempts(job):
                self._flights.land(job, rules.failure("the worker died during the last attempt"))
            else:
                deliveries.append(job)
        if deliveries:
            # At the end of the process nothing waits for a store that hangs.
            reading = threading.Thread(target=self._deliver, args=(deliveries,), daemon=True)
            self._reads.add(reading)
            reading.start()

    def _deliver(self, deliveries: Sequence[ClaimedJob]) -> None:
        """Reads the sessions of a claim and sends each group as soon as it is read."""
        with spans.work(self._source.task.actor):
            self._deliver_all(deliveries)

    def _deliver_all(self, deliveries: Sequence[ClaimedJob]) -> None:
        left = {job.row.id: job for job in deliveries}
        try:
            for part in self._source.built(deliveries):
                self._send(part)
                for job, _ in part:
                    del left[job.row.id]
        except (Unavailable, QueryTimeout):
            # A store is down or slow, which is not the jobs' fault.
            pass
        except Exception:
            log.exception("evaluations_not_sent")
        for job in left.values():
            self._flights.land(job, JobNotSent(is_given_back=True))
        self._reads.discard(threading.current_thread())
        self._flights.ask()

    def _send(self, part: Sequence[tuple[ClaimedJob, Built]]) -> None:
        ready = [job for job, built in part if isinstance(built, bytes)]
        with self._runtime.postgres.transaction() as session:
            begun = self._source.begin(session, ready)
        for job, built in part:
            if isinstance(built, bytes) and job.row.id in begun:
                self._await(job, self._source.deliver(job, built))
            else:
                self._flights.land(job, _unsent(built))

    def _await(self, job: ClaimedJob, call: Future[Answer | NoEvaluatorAnswer]) -> None:
        call.add_done_callback(lambda done: self._flights.land(job, _result_of(done)))

    def _nudge_storing(self) -> None:
        """Has finished results stored, a few times a second: many with one insert."""
        now = time.monotonic()
        if self._has_results and (now >= self._nudge_storing_at or not self._flights.held):
            self._runtime.queue.nudge_soon(jobs.STORE_EVALUATIONS)
            self._has_results, self._nudge_storing_at = False, now + STORE_SECS


def _unsent(built: Built) -> Outcome:
    """Returns the outcome of a job that was claimed and not sent."""
    if built is None:
        return rules.failure("the session has no events")
    if isinstance(built, EvaluationRequestTooLarge):
        return rules.failure(str(built))
    return JobNotSent(is_given_back=isinstance(built, Exception))


def _result_of(call: Future[Answer | NoEvaluatorAnswer]) -> Answer | NoEvaluatorAnswer:
    defect = call.exception()
    if defect is None:
        return call.result()
    log.error("evaluation_call_broke", exc_info=defect)
    return NoEvaluatorAnswer("the call could not be made", timed_out=False)


def _record(
    session: Session, source: CallSource, landed: Sequence[tuple[ClaimedJob, Outcome]]
) -> list[Step | None]:
    """Records outcomes; returns the decision for each, None without one."""
    unsent = [job for job, one in landed if isinstance(one, JobNotSent) and one.is_given_back]
    claims.give_back(session, unsent, after_secs=STORE_RETRY_SECS)
    brought = [(job, one) for job, one in landed if not isinstance(one, JobNotSent)]
    steps = iter(source.record(session, brought))
    return [None if isinstance(one, JobNotSent) else next(steps) for _, one in landed]


def _log(job: ClaimedJob, outcome: Outcome, step: Step | None) -> None:
    if isinstance(outcome, JobNotSent) and outcome.is_given_back:
        return
    error = None
    if step is not None:
        error = step.result.error if isinstance(step, Finish) else step.error
    with request_context(job.row.request_id, job_id=str(job.row.id)):
        log.info(
            "evaluation_step",
            session_id=job.row.session_id,
            step="lease_lost" if step is None else type(step).__name__.lower(),
            error=error,
        )


def outcome_name(step: Step | None) -> str:
    """Returns the name of an outcome in the metrics."""
    if step is None:
        return "late"
    if isinstance(step, Finish):
        return "scored" if step.result.status == "done" else step.result.status
    return "pending" if isinstance(step, Poll) else "again"
