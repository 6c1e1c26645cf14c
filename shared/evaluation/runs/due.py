"""The seconds until the next work of each task of runs; None if there is none."""

from sqlalchemy.orm import Session

from shared.evaluation.runs.claims import CALLED
from shared.foundation.core.config import Settings
from shared.foundation.postgres import leases
from shared.foundation.postgres.due import secs_until_due

# One probe of the index for each evaluator and rank, and the leases of calls in flight: the run of
# a worker that was killed is due when its lease expires.
_CALLS = f"""
SELECT greatest(run.next_attempt_at, breaker.retry_at)
FROM evaluators AS evaluator
JOIN organizations AS org ON org.id = evaluator.org_id AND org.deleted_at IS NULL
LEFT JOIN evaluator_breakers AS breaker ON breaker.key = CAST(evaluator.id AS text)
CROSS JOIN (VALUES (0), (1), (2)) AS wanted (rank)
CROSS JOIN LATERAL (
    SELECT next_attempt_at FROM evaluator_runs
    WHERE evaluator_id = evaluator.id AND evaluator_runs.rank = wanted.rank
        AND status IN ('pending', 'polling') AND {leases.FREE}
    ORDER BY next_attempt_at
    LIMIT 1
) AS run
WHERE evaluator.kind = ANY(:kinds) AND evaluator.enabled AND evaluator.archived_at IS NULL
UNION ALL
SELECT min(lease_expires_at) FROM evaluator_runs WHERE lease_expires_at > statement_timestamp()
"""

_TRIGGERS = """
SELECT min(end_check_at) FROM session_triggers
UNION ALL SELECT min(idle_check_at) FROM session_triggers
"""


def of_calls(session: Session, _settings: Settings) -> float | None:
    """Runs that can be sent or polled."""
    return secs_until_due(session, _CALLS, kinds=list(CALLED))


def of_triggers(session: Session, _settings: Settings) -> float | None:
    """Sessions that may have ended, or that will be idle."""
    return secs_until_due(session, _TRIGGERS)
