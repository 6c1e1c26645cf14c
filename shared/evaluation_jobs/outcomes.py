"""Writing down what a call brought, and handing the job back in the same transaction."""

import random
from typing import Any

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

from shared.core.config import Settings
from shared.evaluation_jobs import evaluator_config
from shared.evaluation_jobs.answers import Answer, NoAnswer, read
from shared.evaluation_jobs.claims import Claim
from shared.evaluation_jobs.rules import Call, Finish, Poll, Step, next_step

# Whoever lost the lease finds no row here, and its late answer changes nothing.
_HELD = text("""
SELECT clock_timestamp() AS now, attempt_count, evaluator_job_id, poll_deadline_at
FROM evaluation_jobs
WHERE id = :id AND lease_token = :token AND status IN ('pending', 'polling')
FOR UPDATE
""")

_FINISH = text("""
UPDATE evaluation_jobs
SET status = 'storing',
    result = :result,
    last_error = :error,
    attempt_count = greatest(attempt_count, 1),
    completed_at = clock_timestamp(),
    lease_token = NULL,
    lease_expires_at = NULL
WHERE id = :id
""")

_POLL = text("""
UPDATE evaluation_jobs
SET status = 'polling',
    evaluator_job_id = :evaluator_job_id,
    last_error = :error,
    poll_deadline_at = coalesce(
        poll_deadline_at, clock_timestamp() + make_interval(secs => :max_poll_duration)),
    next_attempt_at = clock_timestamp() + make_interval(secs => :after),
    lease_token = NULL,
    lease_expires_at = NULL
WHERE id = :id
""")

_DELIVER = text("""
UPDATE evaluation_jobs
SET last_error = :error,
    next_attempt_at = clock_timestamp() + make_interval(secs => :after),
    lease_token = NULL,
    lease_expires_at = NULL
WHERE id = :id
""")


def record(
    session: Session, settings: Settings, claim: Claim, brought: Answer | NoAnswer | Finish
) -> Step | None:
    """Writes down what follows from an answer, or an end that needed none; the lease is free then.

    Returns the decision, None when the job is no longer in this worker's hands.
    """
    key = {"id": claim.job_id, "token": claim.lease_token}
    held = session.execute(_HELD, key).one_or_none()
    if held is None:
        return None
    step = brought if isinstance(brought, Finish) else _decide(session, settings, held, brought)
    _write(session, settings, claim, step)
    return step


def _decide(
    session: Session, settings: Settings, held: Row[Any], answer: Answer | NoAnswer
) -> Step:
    left = None
    if held.poll_deadline_at is not None:
        left = (held.poll_deadline_at - held.now).total_seconds()
    call = Call(
        attempt_count=held.attempt_count,
        evaluator_job_id=held.evaluator_job_id,
        poll_secs_left=left,
    )
    return next_step(
        call,
        read(answer, held.now),
        settings,
        default_poll_secs=evaluator_config.current(session, settings).default_poll_interval_secs,
        jitter=random.random(),  # noqa: S311 spreads retries, keeps no secret
    )


def _write(session: Session, settings: Settings, claim: Claim, step: Step) -> None:
    if isinstance(step, Finish):
        values = {"result": step.result.packed(), "error": step.result.error}
        session.execute(_FINISH, {"id": claim.job_id, **values})
    elif isinstance(step, Poll):
        session.execute(
            _POLL,
            {
                "id": claim.job_id,
                "evaluator_job_id": step.evaluator_job_id,
                "error": step.error,
                "after": step.after_secs,
                "max_poll_duration": settings.evaluator_max_poll_duration_secs,
            },
        )
    else:
        session.execute(
            _DELIVER, {"id": claim.job_id, "error": step.error, "after": step.after_secs}
        )
