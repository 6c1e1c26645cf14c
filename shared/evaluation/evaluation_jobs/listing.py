"""Reads jobs: live ones, and the waiting times of the oldest due job and the oldest result."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID

from sqlalchemy import case, func, select, text
from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs import breaker
from shared.evaluation.evaluation_jobs.models import LIVE, EvaluationJob, JobColumns
from shared.evaluation.evaluation_jobs.scope import breaker_key, evaluator_slugs
from shared.foundation.core.config import Settings
from shared.foundation.postgres import leases

LiveStatus = Literal["pending", "polling"]


class LiveJob(NamedTuple):
    """A job without a result so far."""

    id: UUID
    session_id: str
    agent_id: str
    environment: str
    status: LiveStatus
    trigger: str
    attempt_count: int
    evaluator_job_id: str | None
    enqueued_at: datetime
    next_attempt_at: datetime
    poll_deadline_at: datetime | None
    last_error: str | None


class LiveJobs(NamedTuple):
    """Live jobs of a status: their number, and the seconds since the oldest was created."""

    jobs: int
    oldest_secs: float


NO_JOBS = LiveJobs(0, 0.0)

# A job whose result is on its way to ClickHouse keeps its previous status.
_SHOWN_STATUS = case((EvaluationJob.evaluator_job_id.is_(None), "pending"), else_="polling")


def listed_of(table: type[JobColumns]) -> list[Any]:
    """Returns the columns of a table of jobs that `LiveJob` has."""
    shown = case((table.evaluator_job_id.is_(None), "pending"), else_="polling")
    return [shown if name == "status" else getattr(table, name) for name in LiveJob._fields]


LISTED = listed_of(EvaluationJob)

_MAY_BE_CALLED = """
    org.deleted_at IS NULL
    AND (CAST(:slugs AS text[]) IS NULL OR org.slug = ANY(CAST(:slugs AS text[])))
"""
_OLDEST_DUE = text(f"""
SELECT extract(epoch FROM
    statement_timestamp() - greatest(min(job.next_attempt_at), {breaker.RETRY_AT}))
FROM evaluation_jobs AS job JOIN organizations AS org ON org.id = job.org_id
WHERE job.status IN ('pending', 'polling')
    AND job.next_attempt_at <= statement_timestamp()
    AND {leases.FREE}
    AND {_MAY_BE_CALLED}
""")

_LIVE_BY_STATUS = text(f"""
SELECT job.status, count(*) AS jobs,
    extract(epoch FROM statement_timestamp() - min(job.enqueued_at)) AS oldest_secs
FROM evaluation_jobs AS job JOIN organizations AS org ON org.id = job.org_id
WHERE job.{LIVE} AND {_MAY_BE_CALLED}
GROUP BY job.status
""")


def live_jobs(
    session: Session,
    org_id: UUID,
    *,
    statuses: Collection[str],
    session_ids: Collection[str] = (),
    limit: int,
) -> Sequence[LiveJob]:
    """Lists the newest jobs in one of `statuses`, each a `LiveStatus`.

    `session_ids` limits them to jobs of these sessions; none means all.
    """
    query = (
        select(*LISTED)
        .where(EvaluationJob.org_id == org_id, text(LIVE), _SHOWN_STATUS.in_(statuses))
        .order_by(EvaluationJob.enqueued_at.desc(), EvaluationJob.id.desc())
        .limit(limit)
    )
    if session_ids:
        query = query.where(EvaluationJob.session_id.in_(session_ids))
    return [LiveJob(*row) for row in session.execute(query)]


def oldest_due_secs(session: Session, settings: Settings) -> float:
    """Returns the seconds for which the oldest due job has waited; 0.0 if none is due.

    Jobs that are never called, because there is no evaluator or the organization may not use it, do
    not count, nor does the time that jobs wait behind the breaker.
    """
    if settings.evaluator_endpoint is None:
        return 0.0
    wanted = {"slugs": evaluator_slugs(settings), "breaker": breaker_key(settings)}
    waited = session.scalar(_OLDEST_DUE, wanted)
    return 0.0 if waited is None else max(0.0, float(waited))


def oldest_result_waiting(session: Session, org_id: UUID) -> datetime | None:
    """Returns the time of the oldest result that ClickHouse does not have yet.

    None if there is none.
    """
    return session.scalar(
        select(func.min(EvaluationJob.completed_at)).where(
            EvaluationJob.org_id == org_id, EvaluationJob.status == "storing"
        )
    )


def live_by_status(session: Session, settings: Settings) -> dict[str, LiveJobs]:
    """Returns number and age of the live jobs of the deployment by status.

    Those that are never called, because the organization may not use the evaluator, do not count.
    """
    rows = session.execute(_LIVE_BY_STATUS, {"slugs": evaluator_slugs(settings)})
    return {row.status: LiveJobs(row.jobs, float(row.oldest_secs)) for row in rows}
