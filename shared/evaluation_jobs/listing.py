"""Reading jobs: the live ones of an organization, and how long the oldest due one waits."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Literal, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.config import Settings
from shared.evaluation_jobs.claims import evaluator_slugs

LiveStatus = Literal["pending", "polling"]


class LiveJob(NamedTuple):
    """A job whose result does not exist yet."""

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


# A job whose result is on its way to ClickHouse still shows as what it was.
_LIVE = text("""
SELECT * FROM (
    SELECT id, session_id, agent_id, environment,
        CASE WHEN evaluator_job_id IS NULL THEN 'pending' ELSE 'polling' END AS shown_status,
        trigger, attempt_count, evaluator_job_id, enqueued_at, next_attempt_at, poll_deadline_at,
        last_error
    FROM evaluation_jobs
    WHERE org_id = :org_id AND status IN ('pending', 'polling', 'storing')
) AS live
WHERE shown_status = ANY(CAST(:statuses AS text[]))
ORDER BY enqueued_at DESC, id DESC
LIMIT :limit
""")

_OLDEST_DUE = text("""
SELECT extract(epoch FROM statement_timestamp() - min(job.next_attempt_at))
FROM evaluation_jobs AS job JOIN organizations AS org ON org.id = job.org_id
WHERE job.status IN ('pending', 'polling')
    AND job.next_attempt_at <= statement_timestamp()
    AND (job.lease_expires_at IS NULL OR job.lease_expires_at <= statement_timestamp())
    AND org.deleted_at IS NULL
    AND (CAST(:slugs AS text[]) IS NULL OR org.slug = ANY(CAST(:slugs AS text[])))
""")


def live_jobs(
    session: Session, org_id: UUID, *, statuses: Collection[LiveStatus], limit: int
) -> Sequence[LiveJob]:
    """The newest jobs in one of `statuses`."""
    rows = session.execute(_LIVE, {"org_id": org_id, "statuses": list(statuses), "limit": limit})
    return [LiveJob(*row) for row in rows]


def oldest_due_secs(session: Session, settings: Settings) -> float:
    """How long the job that waits longest for a call has been due; 0.0 when none is.

    Jobs that nothing will call, for lack of an evaluator or of the organization's right to it,
    do not count.
    """
    if settings.evaluator_endpoint is None:
        return 0.0
    waited = session.scalar(_OLDEST_DUE, {"slugs": evaluator_slugs(settings)})
    return 0.0 if waited is None else float(waited)
