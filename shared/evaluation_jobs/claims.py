"""Claims of due jobs under leases: the selection, and the limit of calls in flight.

The number of live leases is the number of calls in flight in the whole deployment. A killed worker
frees its place when its lease expires; its job is then due again.
"""

from dataclasses import dataclass

from sqlalchemy import func, text
from sqlalchemy.orm import Session

from shared.core.config import Settings
from shared.evaluation_jobs.models import EvaluationJob
from shared.postgres import leases
from shared.postgres.leases import Lease

# Any number that no other advisory lock of this project uses.
_LOCK_ID = 7_237_002

# A lease outlasts the longest call by this much: time to record the outcome.
_SLACK_SECS = 5.0


@dataclass(frozen=True)
class ClaimedJob:
    """A job that this worker holds; `row` is the job as it was claimed."""

    lease: Lease
    row: EvaluationJob


_FREE_PLACES = text("""
SELECT :bound - count(*) FROM evaluation_jobs WHERE lease_expires_at > statement_timestamp()
""")

# One probe of the index (org_id, next_attempt_at) for each organization, however many jobs are due.
_NEXT_JOB = text(f"""
SELECT job.id
FROM organizations
LEFT JOIN evaluator_turns AS turn ON turn.org_id = organizations.id
CROSS JOIN LATERAL (
    SELECT id FROM evaluation_jobs
    WHERE org_id = organizations.id
        AND status IN ('pending', 'polling')
        AND next_attempt_at <= statement_timestamp()
        AND {leases.FREE}
    ORDER BY next_attempt_at
    LIMIT 1
) AS job
WHERE organizations.deleted_at IS NULL
    AND (CAST(:slugs AS text[]) IS NULL OR organizations.slug = ANY(CAST(:slugs AS text[])))
ORDER BY turn.last_turn_at NULLS FIRST
LIMIT 1
""")

_TAKE_TURN = text("""
INSERT INTO evaluator_turns VALUES (:org_id, clock_timestamp())
ON CONFLICT (org_id) DO UPDATE SET last_turn_at = excluded.last_turn_at
""")


def claim(session: Session, settings: Settings) -> ClaimedJob | None:
    """Takes the oldest due job of the organization whose last turn is longest ago.

    Returns None if nothing is due or EVALUATOR_WORKERS x EVALUATOR_CLAIM_BATCH calls are in flight.
    The advisory lock lets one worker at a time count the places and take one.
    """
    session.execute(text("SELECT pg_advisory_xact_lock(:id)"), {"id": _LOCK_ID})
    free = session.execute(_FREE_PLACES, {"bound": settings.evaluator_concurrency}).scalar_one()
    if free <= 0:
        return None
    job_id = session.execute(_NEXT_JOB, {"slugs": evaluator_slugs(settings)}).scalar_one_or_none()
    if job_id is None:
        return None
    only = EvaluationJob.id == job_id
    lease, [(row,)] = leases.take(
        session, EvaluationJob, only, _lease_secs(settings), (EvaluationJob,)
    )
    session.execute(_TAKE_TURN, {"org_id": row.org_id})
    return ClaimedJob(lease, row)


def begin_delivery(session: Session, settings: Settings, job: ClaimedJob) -> bool:
    """Counts a delivery attempt just before it is made and renews the lease for it.

    It is counted before, so that a request that kills every worker ends too. Returns False if the
    lease expired while the request was built: another worker may have the job now.
    """
    return job.lease.renew(
        session,
        _lease_secs(settings),
        only_live=True,
        attempt_count=EvaluationJob.attempt_count + 1,
        started_at=func.coalesce(EvaluationJob.started_at, func.statement_timestamp()),
    )


def give_back(session: Session, job: ClaimedJob, *, after_secs: float) -> None:
    """Frees the job without an outcome; it is due again in `after_secs`."""
    job.lease.end(session, next_attempt_at=leases.in_secs(after_secs))


def _lease_secs(settings: Settings) -> float:
    return settings.evaluator_request_timeout_ms / 1000 + _SLACK_SECS


def evaluator_slugs(settings: Settings) -> list[str] | None:
    """Returns EVALUATOR_ORGS as a list; None for all organizations."""
    if settings.evaluator_orgs is None:
        return None
    return [slug.strip() for slug in settings.evaluator_orgs.split(",")]
