"""Records which sessions got events: the drain reports a whole block in one statement."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.core.config import Settings

# A session is checked once it was quiet for QUIET_SECS, at most PATIENCE_SECS after the arrival
# that triggered the check.
QUIET_SECS = 2
PATIENCE_SECS = 60


@dataclass(frozen=True)
class StoredSession:
    """A session with events that ClickHouse has just stored; `has_agent_end`: of any agent."""

    org_id: uuid.UUID
    org_slug: str
    session_id: str
    has_agent_end: bool


# The time is that of storing and not of arrival: after an outage, a session whose first batch is
# stored while its second still waits in the backlog must not look idle. Rows are written in the
# order of their key, so two drains cannot deadlock.
_WATCH = text("""
INSERT INTO watched_sessions AS w
    (org_id, session_id, last_arrival_at, end_seen, waiting_since, check_at)
SELECT
    stored.org_id,
    stored.session_id,
    statement_timestamp(),
    stored.end_seen,
    CASE WHEN stored.end_seen THEN statement_timestamp() END,
    CASE WHEN stored.end_seen THEN statement_timestamp() + make_interval(secs => :quiet) END
FROM unnest(CAST(:org_ids AS uuid[]), CAST(:session_ids AS text[]), CAST(:ends AS bool[]))
    AS stored (org_id, session_id, end_seen)
JOIN organizations ON organizations.id = stored.org_id AND organizations.deleted_at IS NULL
ORDER BY stored.org_id, stored.session_id
ON CONFLICT (org_id, session_id) DO UPDATE SET
    last_arrival_at = excluded.last_arrival_at,
    end_seen = w.end_seen OR excluded.end_seen,
    waiting_since = CASE
        WHEN w.evaluated THEN NULL
        WHEN w.end_seen OR excluded.end_seen
            THEN coalesce(w.waiting_since, excluded.last_arrival_at)
    END,
    check_at = CASE
        WHEN w.evaluated THEN NULL
        WHEN w.end_seen OR excluded.end_seen THEN least(
            excluded.last_arrival_at + make_interval(secs => :quiet),
            coalesce(w.waiting_since, excluded.last_arrival_at)
                + make_interval(secs => :patience))
    END
""")


def watch(session: Session, settings: Settings, stored: Sequence[StoredSession]) -> None:
    """Records that events of these sessions were stored, before their batches are acknowledged.

    Sessions of organizations that may not use the evaluator are not recorded: when it is enabled
    later, earlier sessions get no jobs.
    """
    ends = _merged(s for s in stored if settings.may_evaluate(s.org_slug))
    if not ends:
        return
    session.execute(
        _WATCH,
        {
            "org_ids": [str(org_id) for org_id, _ in ends],
            "session_ids": [session_id for _, session_id in ends],
            "ends": list(ends.values()),
            "quiet": QUIET_SECS,
            "patience": PATIENCE_SECS,
        },
    )


def _merged(stored: Iterable[StoredSession]) -> dict[tuple[uuid.UUID, str], bool]:
    """Merges entries to one per session, because an upsert cannot change a row twice."""
    ends: dict[tuple[uuid.UUID, str], bool] = {}
    for one in stored:
        key = (one.org_id, one.session_id)
        ends[key] = ends.get(key, False) or one.has_agent_end
    return ends
