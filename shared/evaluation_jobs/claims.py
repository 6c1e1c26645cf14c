"""Taking a job, keeping it, and giving it back: leases in PostgreSQL, by PostgreSQL's clock.

The number of live leases is the number of calls in flight over the whole deployment. A worker that
is killed frees its place when its lease runs out; what it had taken is then due again.
"""

import uuid
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.core.config import Settings
from shared.core.ids import new_id

# Any number that no other advisory lock of this project uses.
_LOCK_ID = 7_237_002

# A lease outlasts the longest call by this much: time to record the outcome.
_SLACK_SECS = 5.0


@dataclass(frozen=True)
class Claim:
    """A job in the hands of this worker until its lease expires.

    `polls` is the evaluator's id of what an earlier delivery started, None before that.
    """

    job_id: uuid.UUID
    org_id: uuid.UUID
    session_id: str
    request_id: str
    polls: str | None
    attempt_count: int
    lease_token: uuid.UUID


_FREE_PLACES = text("""
SELECT :bound - count(*) FROM evaluation_jobs WHERE lease_expires_at > statement_timestamp()
""")

# One probe of the index (org_id, next_attempt_at) for each organization, however many jobs are due.
_NEXT_JOB = text("""
SELECT job.id
FROM organizations
LEFT JOIN evaluator_turns AS turn ON turn.org_id = organizations.id
CROSS JOIN LATERAL (
    SELECT id FROM evaluation_jobs
    WHERE org_id = organizations.id
        AND status IN ('pending', 'polling')
        AND next_attempt_at <= statement_timestamp()
        AND (lease_expires_at IS NULL OR lease_expires_at <= statement_timestamp())
    ORDER BY next_attempt_at
    LIMIT 1
) AS job
WHERE organizations.deleted_at IS NULL
    AND (CAST(:slugs AS text[]) IS NULL OR organizations.slug = ANY(CAST(:slugs AS text[])))
ORDER BY turn.last_turn_at NULLS FIRST
LIMIT 1
""")

_TAKE = text("""
UPDATE evaluation_jobs
SET lease_token = :token,
    lease_expires_at = statement_timestamp() + make_interval(secs => :lease)
WHERE id = :id
RETURNING id, org_id, session_id, request_id, evaluator_job_id, attempt_count, lease_token
""")

_TAKE_TURN = text("""
INSERT INTO evaluator_turns VALUES (:org_id, clock_timestamp())
ON CONFLICT (org_id) DO UPDATE SET last_turn_at = excluded.last_turn_at
""")

_BEGIN = text("""
UPDATE evaluation_jobs
SET attempt_count = attempt_count + 1,
    started_at = coalesce(started_at, statement_timestamp()),
    lease_expires_at = statement_timestamp() + make_interval(secs => :lease)
WHERE id = :id AND lease_token = :token AND lease_expires_at > statement_timestamp()
RETURNING id
""")

_GIVE_BACK = text("""
UPDATE evaluation_jobs
SET lease_token = NULL,
    lease_expires_at = NULL,
    next_attempt_at = statement_timestamp() + make_interval(secs => :after)
WHERE id = :id AND lease_token = :token
""")


def claim(session: Session, settings: Settings) -> Claim | None:
    """Takes the oldest due job of the organization whose last turn is longest ago.

    None when nothing is due or EVALUATOR_WORKERS x EVALUATOR_CLAIM_BATCH calls are in flight. The
    advisory lock lets one worker at a time count the places and take one.
    """
    session.execute(text("SELECT pg_advisory_xact_lock(:id)"), {"id": _LOCK_ID})
    free = session.execute(_FREE_PLACES, {"bound": settings.evaluator_concurrency}).scalar_one()
    if free <= 0:
        return None
    job_id = session.execute(_NEXT_JOB, {"slugs": evaluator_slugs(settings)}).scalar_one_or_none()
    if job_id is None:
        return None
    taken = {"id": job_id, "token": new_id(), "lease": _lease_secs(settings)}
    row = session.execute(_TAKE, taken).one()
    session.execute(_TAKE_TURN, {"org_id": row.org_id})
    return Claim(*row)


def begin_delivery(session: Session, settings: Settings, claim: Claim) -> bool:
    """Counts a delivery attempt just before it is made and renews the lease for it.

    Counted before, so that a request that kills every worker it meets still ends. False when the
    lease ran out while the request was being built: the job is for others now.
    """
    held = session.execute(
        _BEGIN,
        {"id": claim.job_id, "token": claim.lease_token, "lease": _lease_secs(settings)},
    )
    return held.one_or_none() is not None


def give_back(session: Session, claim: Claim, *, after_secs: float) -> None:
    """Frees the job without an outcome, to be claimed again in `after_secs`."""
    session.execute(
        _GIVE_BACK, {"id": claim.job_id, "token": claim.lease_token, "after": after_secs}
    )


def _lease_secs(settings: Settings) -> float:
    return settings.evaluator_request_timeout_ms / 1000 + _SLACK_SECS


def evaluator_slugs(settings: Settings) -> list[str] | None:
    """EVALUATOR_ORGS as a list; None for all organizations."""
    if settings.evaluator_orgs is None:
        return None
    return [slug.strip() for slug in settings.evaluator_orgs.split(",")]
