"""Records the outcome of a call, and frees the job in the same transaction."""

from typing import Any

from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session

from shared.core.attempts import jitter
from shared.core.config import Settings
from shared.evaluation_jobs import evaluator_config
from shared.evaluation_jobs.answers import Answer, NoAnswer, read
from shared.evaluation_jobs.claims import ClaimedJob
from shared.evaluation_jobs.models import EvaluationJob
from shared.evaluation_jobs.rules import Call, Finish, Poll, Step, next_step
from shared.postgres.leases import in_secs


def record(
    session: Session, settings: Settings, job: ClaimedJob, brought: Answer | NoAnswer | Finish
) -> Step | None:
    """Records the result of an answer, or an end without one, and frees the lease.

    Returns the decision, None if another worker has the job: a late answer changes nothing.
    """
    query = select(
        func.clock_timestamp().label("now"),
        EvaluationJob.attempt_count,
        EvaluationJob.evaluator_job_id,
        EvaluationJob.poll_deadline_at,
    ).where(job.lease.held, EvaluationJob.status.in_(("pending", "polling")))
    held = session.execute(query.with_for_update()).one_or_none()
    if held is None:
        return None
    step = brought if isinstance(brought, Finish) else _decide(session, settings, held, brought)
    job.lease.end(session, **_changes(step, settings))
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
        jitter=jitter(),
    )


def _changes(step: Step, settings: Settings) -> dict[str, Any]:
    if isinstance(step, Finish):
        return {
            "status": "storing",
            "result": step.result.packed(),
            "last_error": step.result.error,
            "attempt_count": func.greatest(EvaluationJob.attempt_count, 1),
            "completed_at": func.clock_timestamp(),
        }
    changes = {"last_error": step.error, "next_attempt_at": in_secs(step.after_secs)}
    if isinstance(step, Poll):
        ends_at = in_secs(settings.evaluator_max_poll_duration_secs)
        changes |= {
            "status": "polling",
            "evaluator_job_id": step.evaluator_job_id,
            "poll_deadline_at": func.coalesce(EvaluationJob.poll_deadline_at, ends_at),
        }
    return changes
