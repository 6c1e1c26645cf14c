"""Creates jobs; unique indexes allow one live job per session, and one automatic job ever."""

from collections.abc import Sequence
from typing import Literal, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs.watching import QUIET_SECS
from shared.foundation.core.ids import new_id, new_request_id

Automatic = Literal["agent_end", "inactivity"]


class NewJob(NamedTuple):
    """A new job; agent and environment are the session's as they were when it began."""

    org_id: UUID
    session_id: str
    agent_id: str
    environment: str


_INSERT = text("""
INSERT INTO evaluation_jobs
    (id, org_id, session_id, agent_id, environment, trigger, request_id,
     enqueued_at, next_attempt_at)
SELECT job.*, statement_timestamp(), statement_timestamp()
FROM unnest(CAST(:ids AS uuid[]), CAST(:org_ids AS uuid[]), CAST(:session_ids AS text[]),
            CAST(:agent_ids AS text[]), CAST(:environments AS text[]), CAST(:triggers AS text[]),
            CAST(:request_ids AS text[])) AS job
ON CONFLICT DO NOTHING
RETURNING id
""")

# If a live manual job prevented the automatic one, the session is checked again.
_SETTLE = text("""
UPDATE watched_sessions AS w
SET evaluated = automatic.present,
    waiting_since = CASE WHEN NOT automatic.present THEN w.waiting_since END,
    check_at = CASE WHEN NOT automatic.present AND NOT w.idle_only
        THEN statement_timestamp() + make_interval(secs => :quiet) END
FROM unnest(CAST(:org_ids AS uuid[]), CAST(:session_ids AS text[])) AS key (org_id, session_id)
CROSS JOIN LATERAL (
    SELECT EXISTS (
        SELECT FROM evaluation_jobs AS job
        WHERE job.org_id = key.org_id AND job.session_id = key.session_id
            AND job.trigger <> 'manual') AS present
) AS automatic
WHERE w.org_id = key.org_id AND w.session_id = key.session_id
""")


def enqueue_automatic(session: Session, jobs: Sequence[NewJob], trigger: Automatic) -> int:
    """Creates the automatic job of each session that has none; returns the number of new jobs.

    The caller has locked the rows of `watched_sessions`, which are marked as done here.
    """
    if not jobs:
        return 0
    created = _insert(session, jobs, trigger, [new_request_id() for _ in jobs])
    session.execute(
        _SETTLE,
        {
            "org_ids": [str(job.org_id) for job in jobs],
            "session_ids": [job.session_id for job in jobs],
            "quiet": QUIET_SECS,
        },
    )
    return len(created)


def enqueue_manual(session: Session, jobs: Sequence[NewJob], request_id: str) -> Sequence[UUID]:
    """Creates jobs on request; returns their ids, none for sessions with a live job."""
    return _insert(session, jobs, "manual", [request_id] * len(jobs))


def _insert(
    session: Session, jobs: Sequence[NewJob], trigger: str, request_ids: Sequence[str]
) -> Sequence[UUID]:
    return (
        session.execute(
            _INSERT,
            {
                "ids": [str(new_id()) for _ in jobs],
                "org_ids": [str(job.org_id) for job in jobs],
                "session_ids": [job.session_id for job in jobs],
                "agent_ids": [job.agent_id for job in jobs],
                "environments": [job.environment for job in jobs],
                "triggers": [trigger] * len(jobs),
                "request_ids": list(request_ids),
            },
        )
        .scalars()
        .all()
    )
