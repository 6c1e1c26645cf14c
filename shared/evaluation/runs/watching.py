"""Records which sessions got events, for organizations with evaluators of their own."""

from collections.abc import Sequence

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.access.organizations import CANARY_ID
from shared.evaluation.evaluation_jobs.watching import (
    IDLE_ONLY_TIMEOUT_SECS,
    PATIENCE_SECS,
    QUIET_SECS,
    StoredSession,
    merged,
)

# Evaluators that trigger runs.
ACTIVE = "evaluator.enabled AND evaluator.archived_at IS NULL AND active_version_id IS NOT NULL"

# An organization without such evaluators gets no rows. The others are written in the order of their
# key, so two drains cannot deadlock. `quiet` is the shortest time after which a session is idle.
_WATCH = text(f"""
INSERT INTO session_triggers AS known
    (org_id, session_id, last_arrival_at, end_seen, waiting_since, end_check_at, idle_check_at,
     idle_only)
SELECT
    stored.org_id,
    stored.session_id,
    statement_timestamp(),
    stored.end_seen,
    CASE WHEN stored.end_seen THEN statement_timestamp() END,
    CASE WHEN stored.end_seen AND NOT stored.idle_only
        THEN statement_timestamp() + make_interval(secs => :quiet) END,
    statement_timestamp() + make_interval(secs => own.idle_secs),
    stored.idle_only
FROM unnest(CAST(:org_ids AS uuid[]), CAST(:session_ids AS text[]), CAST(:ends AS bool[]),
            CAST(:idle AS bool[]))
    AS stored (org_id, session_id, end_seen, idle_only)
JOIN organizations ON organizations.id = stored.org_id AND organizations.deleted_at IS NULL
CROSS JOIN LATERAL (
    SELECT min(coalesce(idle_secs, CASE WHEN stored.idle_only THEN :idle_only_secs END))
        AS idle_secs
    FROM evaluators AS evaluator
    WHERE evaluator.org_id = stored.org_id AND {ACTIVE}
    HAVING count(*) > 0
) AS own
ORDER BY stored.org_id, stored.session_id
ON CONFLICT (org_id, session_id) DO UPDATE SET
    last_arrival_at = excluded.last_arrival_at,
    end_seen = known.end_seen OR excluded.end_seen,
    waiting_since = CASE WHEN known.end_seen OR excluded.end_seen
        THEN coalesce(known.waiting_since, excluded.last_arrival_at) END,
    idle_only = known.idle_only OR excluded.idle_only,
    end_check_at = CASE
        WHEN known.idle_only OR excluded.idle_only THEN NULL
        WHEN known.end_seen OR excluded.end_seen THEN least(
            excluded.last_arrival_at + make_interval(secs => :quiet),
            coalesce(known.waiting_since, excluded.last_arrival_at)
                + make_interval(secs => :patience))
    END,
    idle_check_at = excluded.idle_check_at
RETURNING 1
""")


def watch(session: Session, stored: Sequence[StoredSession]) -> bool:
    """Records that events of these sessions were stored, before their batches are acknowledged.

    Returns whether any of them belongs to an organization with evaluators of its own.
    """
    found = merged(one for one in stored if one.org_id != CANARY_ID)
    if not found:
        return False
    watched = session.execute(
        _WATCH,
        {
            "org_ids": [str(org_id) for org_id, _ in found],
            "session_ids": [session_id for _, session_id in found],
            "ends": [has_end for has_end, _ in found.values()],
            "idle": [idle_only for _, idle_only in found.values()],
            "quiet": QUIET_SECS,
            "patience": PATIENCE_SECS,
            "idle_only_secs": IDLE_ONLY_TIMEOUT_SECS,
        },
    )
    return bool(watched.all())
