"""Turns watched sessions into automatic jobs, after the end of the root agent or inactivity.

Nothing is locked while ClickHouse is read, so the drains never wait for a query. The answer is used
only if the session is still due for the same reason.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import TextClause, text
from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs import evaluator_config
from shared.evaluation.evaluation_jobs.enqueue import NewJob, enqueue_automatic
from shared.evaluation.evaluation_jobs.watching import IDLE_ONLY_TIMEOUT_SECS, QUIET_SECS
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.config import Settings
from shared.foundation.core.tracing import spans
from shared.foundation.postgres import Postgres
from shared.foundation.queue.jobs import CHECK_WATCHED_SESSIONS, SCAN_INACTIVE_SESSIONS
from shared.reading.sessions import facts as session_facts
from shared.reading.sessions.facts import SessionFacts

BATCH = 200

Key = tuple[UUID, str]


class DueSession(NamedTuple):
    """A row of `watched_sessions` as it was when it became due."""

    org_id: UUID
    session_id: str
    last_arrival_at: datetime
    org_slug: str
    org_deleted: bool

    @property
    def key(self) -> Key:
        """The key of the row."""
        return self.org_id, self.session_id


_DUE = text("""
SELECT w.org_id, w.session_id, w.last_arrival_at, org.slug, org.deleted_at IS NOT NULL
FROM watched_sessions AS w JOIN organizations AS org ON org.id = w.org_id
WHERE w.check_at <= statement_timestamp()
ORDER BY w.check_at
LIMIT :batch
""")

# A session with a live manual job is left for later, because only one job may be live.
_INACTIVE = """
SELECT w.org_id, w.session_id, w.last_arrival_at, org.slug, org.deleted_at IS NOT NULL
FROM watched_sessions AS w JOIN organizations AS org ON org.id = w.org_id
WHERE NOT w.evaluated
    AND w.last_arrival_at <= statement_timestamp() - make_interval(secs => :timeout)
    {which}
    AND NOT EXISTS (
        SELECT FROM evaluation_jobs AS job
        WHERE job.org_id = w.org_id AND job.session_id = w.session_id
            AND job.status IN ('pending', 'polling', 'storing'))
ORDER BY w.last_arrival_at
LIMIT :batch
"""
_ALL_INACTIVE = text(_INACTIVE.format(which=""))
# For an evaluator that names no timeout.
_IDLE_ONLY_INACTIVE = text(_INACTIVE.format(which="AND w.idle_only"))

_KEYS = """
    unnest(CAST(:org_ids AS uuid[]), CAST(:session_ids AS text[]), CAST(:arrivals AS timestamptz[]))
        AS seen (org_id, session_id, last_arrival_at)
"""

# Rows that a drain is writing at this moment are skipped; they are due again later.
_LOCK_DUE = text(f"""
SELECT w.org_id, w.session_id
FROM watched_sessions AS w JOIN {_KEYS} USING (org_id, session_id)
WHERE w.check_at <= statement_timestamp()
FOR UPDATE OF w SKIP LOCKED
""")

_LOCK_INACTIVE = text(f"""
SELECT w.org_id, w.session_id
FROM watched_sessions AS w JOIN {_KEYS} USING (org_id, session_id, last_arrival_at)
WHERE NOT w.evaluated
FOR UPDATE OF w SKIP LOCKED
""")

# Arrivals since the read of ClickHouse have not been checked yet.
_LOOK_LATER = text(f"""
UPDATE watched_sessions AS w
SET waiting_since = CASE WHEN w.last_arrival_at > seen.last_arrival_at
        THEN w.last_arrival_at END,
    check_at = CASE WHEN w.last_arrival_at > seen.last_arrival_at
        THEN w.last_arrival_at + make_interval(secs => :quiet) END
FROM {_KEYS}
WHERE w.org_id = seen.org_id AND w.session_id = seen.session_id
""")

_UNWATCH = text(f"""
DELETE FROM watched_sessions AS w USING {_KEYS}
WHERE w.org_id = seen.org_id AND w.session_id = seen.session_id
""")


def promote_ended(postgres: Postgres, clickhouse: ClickHouse, settings: Settings) -> int:
    """Creates the jobs of watched sessions whose root agent ended; returns their number."""
    created = 0
    while settings.evaluator_endpoint is not None:
        with postgres.transaction() as session:
            due = _watched(session, _DUE, {"batch": BATCH})
        if not due:
            break
        with spans.work(CHECK_WATCHED_SESSIONS.actor):
            found = _facts(clickhouse, settings, due)
            with postgres.transaction() as session:
                held = _lock(session, _LOCK_DUE, due)
                ended = [w for w in held if w.key in found and found[w.key].ended_at is not None]
                rest = [w for w in held if w not in ended]
                _execute(session, _LOOK_LATER, rest, quiet=QUIET_SECS)
                created += enqueue_automatic(session, _new_jobs(ended, found), "agent_end")
        if len(due) < BATCH or not held:
            break
    return created


def promote_inactive(postgres: Postgres, clickhouse: ClickHouse, settings: Settings) -> int:
    """Creates the jobs of sessions without an event for the evaluator's timeout.

    If it names none, `IDLE_ONLY_TIMEOUT_SECS` holds for sessions that are evaluated only when idle.
    Returns the number.
    """
    created = 0
    while settings.evaluator_endpoint is not None:
        with postgres.transaction() as session:
            timeout = evaluator_config.current(session, settings).inactivity_timeout_secs
            statement = _IDLE_ONLY_INACTIVE if timeout is None else _ALL_INACTIVE
            seconds = timeout or IDLE_ONLY_TIMEOUT_SECS
            idle = _watched(session, statement, {"timeout": seconds, "batch": BATCH})
        if not idle:
            break
        with spans.work(SCAN_INACTIVE_SESSIONS.actor):
            found = _facts(clickhouse, settings, idle)
            with postgres.transaction() as session:
                held = _lock(session, _LOCK_INACTIVE, idle)
                # Sessions without events, or of an organization that may not evaluate, never
                # become jobs.
                _execute(session, _UNWATCH, [w for w in held if w.key not in found])
                known = [w for w in held if w.key in found]
                created += enqueue_automatic(session, _new_jobs(known, found), "inactivity")
        if len(idle) < BATCH or not held:
            break
    return created


def _watched(
    session: Session, statement: TextClause, params: dict[str, object]
) -> list[DueSession]:
    return [DueSession(*row) for row in session.execute(statement, params)]


def _facts(
    clickhouse: ClickHouse, settings: Settings, watched: Sequence[DueSession]
) -> Mapping[Key, SessionFacts]:
    """Reads the facts of those sessions that may be evaluated, with one query per organization."""
    by_org: dict[UUID, list[str]] = defaultdict(list)
    for w in watched:
        if not w.org_deleted and settings.may_evaluate(w.org_slug):
            by_org[w.org_id].append(w.session_id)
    return {
        (org_id, session_id): found
        for org_id, session_ids in by_org.items()
        for session_id, found in session_facts.fetch(clickhouse, str(org_id), session_ids).items()
    }


def _lock(
    session: Session, statement: TextClause, watched: Sequence[DueSession]
) -> list[DueSession]:
    """Locks those of `watched` that are still due, until the transaction ends."""
    if not watched:
        return []
    held = {(row.org_id, row.session_id) for row in session.execute(statement, _arrays(watched))}
    return [w for w in watched if w.key in held]


def _execute(
    session: Session, statement: TextClause, watched: Sequence[DueSession], **params: object
) -> None:
    if watched:
        session.execute(statement, {**_arrays(watched), **params})


def _arrays(watched: Sequence[DueSession]) -> dict[str, object]:
    return {
        "org_ids": [str(w.org_id) for w in watched],
        "session_ids": [w.session_id for w in watched],
        "arrivals": [w.last_arrival_at for w in watched],
    }


def _new_jobs(watched: Sequence[DueSession], found: Mapping[Key, SessionFacts]) -> list[NewJob]:
    return [
        NewJob(w.org_id, w.session_id, found[w.key].agent_id, found[w.key].environment)
        for w in watched
    ]
