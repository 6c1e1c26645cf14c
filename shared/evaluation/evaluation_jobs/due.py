"""The seconds until the next work of each task of evaluations; None if there is none."""

from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs import breaker, evaluator_config
from shared.evaluation.evaluation_jobs.scope import breaker_key, evaluator_slugs
from shared.evaluation.evaluation_jobs.watching import IDLE_ONLY_TIMEOUT_SECS
from shared.foundation.core.config import Settings
from shared.foundation.postgres import leases
from shared.foundation.postgres.due import secs_until_due

# One probe of the index for each organization, and the leases of calls in flight: the job of a
# worker that was killed is due when its lease expires. While the breaker is open, the next probe is
# what is due.
_JOBS = f"""
SELECT greatest(job.next_attempt_at, {breaker.RETRY_AT})
FROM organizations
CROSS JOIN LATERAL (
    SELECT next_attempt_at FROM evaluation_jobs
    WHERE org_id = organizations.id AND status IN ('pending', 'polling') AND {leases.FREE}
    ORDER BY next_attempt_at
    LIMIT 1
) AS job
WHERE organizations.deleted_at IS NULL
    AND (CAST(:slugs AS text[]) IS NULL OR organizations.slug = ANY(CAST(:slugs AS text[])))
UNION ALL
SELECT min(lease_expires_at) FROM evaluation_jobs WHERE lease_expires_at > statement_timestamp()
"""

_RESULTS = """
SELECT min(completed_at) FROM evaluation_jobs WHERE status = 'storing'
UNION ALL SELECT min(completed_at) FROM evaluator_runs WHERE status = 'storing'
"""

_IDLE = """
SELECT min(last_arrival_at) + make_interval(secs => :timeout)
FROM watched_sessions
WHERE NOT evaluated
"""
_IDLE_ONLY = f"{_IDLE} AND idle_only"


def of_jobs(session: Session, settings: Settings) -> float | None:
    """Jobs that can be sent or polled."""
    if settings.evaluator_endpoint is None:
        return None
    return secs_until_due(
        session, _JOBS, slugs=evaluator_slugs(settings), breaker=breaker_key(settings)
    )


def of_ended_sessions(session: Session, settings: Settings) -> float | None:
    """Sessions whose root agent may have ended."""
    if settings.evaluator_endpoint is None:
        return None
    return secs_until_due(session, "SELECT min(check_at) FROM watched_sessions")


def of_idle_sessions(session: Session, settings: Settings) -> float | None:
    """Sessions that will have been idle for the evaluator's timeout, as in `promote_inactive`."""
    if settings.evaluator_endpoint is None:
        return None
    timeout = evaluator_config.current(session, settings).inactivity_timeout_secs
    if timeout is None:
        return secs_until_due(session, _IDLE_ONLY, timeout=IDLE_ONLY_TIMEOUT_SECS)
    return secs_until_due(session, _IDLE, timeout=timeout)


def of_results(session: Session, _settings: Settings) -> float | None:
    """Results that ClickHouse does not have yet."""
    return secs_until_due(session, _RESULTS)


def of_config(session: Session, settings: Settings) -> float | None:
    """The next read of the evaluator's /config."""
    if settings.evaluator_endpoint is None:
        return None
    return secs_until_due(session, "SELECT next_refresh_at FROM evaluator_config")
