"""Work that a restored deployment does not continue, and work that it must find again.

The original may have gone on after the backup. So nothing that was on its way to people is sent
again, and everything that waits for a computation is computed.
"""

import uuid
from datetime import datetime, timedelta

from sqlalchemy import Connection, text
from sqlalchemy.orm import Session

from shared.access.organizations import CANARY_ID
from shared.evaluation.evaluation_jobs.watching import StoredSession, watch_all
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.event_columns import POSITION_BITS
from shared.foundation.core.clock import to_us
from shared.upkeep.backup.files import in_blocks
from shared.upkeep.backup.manifest import Manifest

REASON = "it was on its way when the backup was taken, and a restore sends nothing again"

# `{mine}` is a condition on the organization.
_SETTLE = (
    (
        "UPDATE mails SET status = 'failed', last_error = :reason, finished_at = now()"
        " WHERE status = 'queued' AND {mine}"
    ),
    (
        "UPDATE notifications SET status = 'skipped', error = :reason, finished_at = now(),"
        " next_attempt_at = NULL, lease_token = NULL, lease_expires_at = NULL"
        " WHERE status = 'queued' AND {mine}"
    ),
    # The person who asked is not connected to this deployment.
    (
        "UPDATE assistant_turns SET state = 'failed', request = NULL, finished_at = now(),"
        " lease_token = NULL, lease_expires_at = NULL"
        " WHERE state IN ('queued', 'running') AND {mine}"
    ),
    # An evaluator that has forgotten the job, or gave up, is asked once more.
    (
        "UPDATE evaluation_jobs SET status = 'pending', evaluator_job_id = NULL,"
        " poll_deadline_at = NULL, next_attempt_at = now(), lease_token = NULL,"
        " lease_expires_at = NULL"
        " WHERE status = 'polling' AND poll_deadline_at < now() AND {mine}"
    ),
    (
        "UPDATE evaluator_runs SET status = 'pending', evaluator_job_id = NULL,"
        " poll_deadline_at = NULL, next_attempt_at = now(), lease_token = NULL,"
        " lease_expires_at = NULL"
        " WHERE status = 'polling' AND poll_deadline_at < now() AND {mine}"
    ),
    # The original has evaluated its alerts over what came while the backup was taken.
    (
        "UPDATE alert_states"
        " SET evaluated_to = greatest(evaluated_to, CAST(:finished_at AS timestamptz))"
        " WHERE evaluated_to IS NOT NULL AND {mine}"
    ),
    # The place for files may be another one, and an import has a folder of its own.
    "UPDATE export_files SET fingerprint = '' WHERE {mine}",
    (
        "UPDATE export_schedules SET next_look_at = now(), full_look_at = now(),"
        " lease_token = NULL, lease_expires_at = NULL WHERE {mine}"
    ),
)

# Batches that were stored this long before the backup certainly have their sessions in it.
_UNSETTLED = timedelta(minutes=10)
_RECENT = """
SELECT org_id, session_id, notEmpty(agent_ends) FROM agent_sessions FINAL
WHERE last_arrival >= {since:UInt64} AND org_id != {canary:String}
    AND (org_id = {org_id:String} OR {org_id:String} = '')
"""
_EVALUATES = text("""
SELECT EXISTS (
    SELECT FROM watched_sessions
    WHERE CAST(:org_id AS uuid) IS NULL OR org_id = CAST(:org_id AS uuid))
""")
_KNOWN = text("""
SELECT watched.org_id, watched.session_id
FROM watched_sessions AS watched
JOIN unnest(CAST(:org_ids AS uuid[]), CAST(:session_ids AS text[])) AS asked (org_id, session_id)
    USING (org_id, session_id)
""")


def settle(connection: Connection, found: Manifest, org_id: uuid.UUID | None = None) -> None:
    """Ends what is not continued, of an organization or of all."""
    values = {"reason": REASON, "finished_at": found.finished_at, "org_id": org_id}
    mine = "true" if org_id is None else "org_id = :org_id"
    for statement in _SETTLE:
        connection.execute(text(statement.format(mine=mine)), values)


def watch_again(
    clickhouse: ClickHouse, session: Session, found: Manifest, org_id: uuid.UUID | None = None
) -> None:
    """Watches the sessions with events that were stored while the backup was taken.

    PostgreSQL was read before them, so it may not know the session, or that an agent has ended. If
    it watched no session at all, there was no evaluator. Whether an organization may use it is
    checked when a session is due, so this does not depend on the settings of this process.
    """
    if not session.scalar(_EVALUATES, {"org_id": org_id}):
        return
    since = datetime.fromisoformat(found.point_at) - _UNSETTLED
    params = {
        "since": (to_us(since) // 1000) << POSITION_BITS,
        "canary": str(CANARY_ID),
        "org_id": "" if org_id is None else str(org_id),
    }
    for block in in_blocks(clickhouse.rows(_RECENT, params)):
        asked = {
            "org_ids": [str(org) for org, _, _ in block],
            "session_ids": [str(session_id) for _, session_id, _ in block],
        }
        known = {(str(org), one) for org, one in session.execute(_KNOWN, asked)}
        # When a session is new here, nothing tells whether its agents end many times. To wait until
        # it is idle is right for both.
        stored = [
            StoredSession(uuid.UUID(org), "", one, bool(has_end), idle_only=(org, one) not in known)
            for org, one, has_end in block
        ]
        watch_all(session, stored)
