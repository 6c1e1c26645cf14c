"""Records which sessions got events: the drain reports a whole block in one statement."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.access.organizations import CANARY_ID
from shared.foundation.core.config import Settings

# A session is checked once it was quiet for QUIET_SECS, at most PATIENCE_SECS after the arrival
# that triggered the check.
QUIET_SECS = 2
PATIENCE_SECS = 60
# An evaluator that names no timeout gets sessions that are evaluated only when idle after this one.
IDLE_ONLY_TIMEOUT_SECS = 60


def quiet_secs(inactivity_timeout_secs: float | None) -> float:
    """Returns the seconds without an event after which a person may have a session evaluated.

    An evaluator may name a timeout of days, or none, which a person need not wait for.
    """
    return min(inactivity_timeout_secs or IDLE_ONLY_TIMEOUT_SECS, IDLE_ONLY_TIMEOUT_SECS)


@dataclass(frozen=True)
class StoredSession:
    """A session with events that ClickHouse has just stored; `has_agent_end`: of any agent.

    `idle_only`: it has many turns, so it is evaluated when it is idle and at no agent's end.
    """

    org_id: uuid.UUID
    org_slug: str
    session_id: str
    has_agent_end: bool
    idle_only: bool = False


# The time is that of storing and not of arrival: after an outage, a session whose first batch is
# stored while its second still waits in the backlog must not look idle. Rows are written in the
# order of their key, so two drains cannot deadlock.
_WATCH = text("""
INSERT INTO watched_sessions AS w
    (org_id, session_id, last_arrival_at, end_seen, waiting_since, check_at, idle_only)
SELECT
    stored.org_id,
    stored.session_id,
    statement_timestamp(),
    stored.end_seen,
    CASE WHEN stored.end_seen THEN statement_timestamp() END,
    CASE WHEN stored.end_seen AND NOT stored.idle_only
        THEN statement_timestamp() + make_interval(secs => :quiet) END,
    stored.idle_only
FROM unnest(CAST(:org_ids AS uuid[]), CAST(:session_ids AS text[]), CAST(:ends AS bool[]),
            CAST(:idle AS bool[]))
    AS stored (org_id, session_id, end_seen, idle_only)
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
    idle_only = w.idle_only OR excluded.idle_only,
    check_at = CASE
        WHEN w.evaluated OR w.idle_only OR excluded.idle_only THEN NULL
        WHEN w.end_seen OR excluded.end_seen THEN least(
            excluded.last_arrival_at + make_interval(secs => :quiet),
            coalesce(w.waiting_since, excluded.last_arrival_at)
                + make_interval(secs => :patience))
    END
""")


def watch(session: Session, settings: Settings, stored: Sequence[StoredSession]) -> None:
    """Records that events of these sessions were stored, before their batches are acknowledged.

    Sessions of organizations that may not use the evaluator are not recorded: when it is enabled
    later, earlier sessions get no jobs. The canary's are never evaluated.
    """
    allowed = (
        one for one in stored if one.org_id != CANARY_ID and settings.may_evaluate(one.org_slug)
    )
    watch_all(session, list(allowed))


def watch_all(session: Session, stored: Iterable[StoredSession]) -> None:
    """Does the same for sessions of any organization."""
    found = merged(stored)
    if not found:
        return
    session.execute(
        _WATCH,
        {
            "org_ids": [str(org_id) for org_id, _ in found],
            "session_ids": [session_id for _, session_id in found],
            "ends": [has_end for has_end, _ in found.values()],
            "idle": [idle_only for _, idle_only in found.values()],
            "quiet": QUIET_SECS,
            "patience": PATIENCE_SECS,
        },
    )


def merged(stored: Iterable[StoredSession]) -> dict[tuple[uuid.UUID, str], tuple[bool, bool]]:
    """Merges entries to one per session, because an upsert cannot change a row twice.

    Returns `has_agent_end` and `idle_only` of each.
    """
    found: dict[tuple[uuid.UUID, str], tuple[bool, bool]] = {}
    for one in stored:
        key = (one.org_id, one.session_id)
        has_end, idle_only = found.get(key, (False, False))
        found[key] = (has_end or one.has_agent_end, idle_only or one.idle_only)
    return found
