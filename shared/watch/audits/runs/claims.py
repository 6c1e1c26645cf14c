"""Claims of audit runs under leases: the selection of a run, and its window.

When the lease of a killed worker expires, another worker takes over the run and keeps its window,
so both see the same events. All writes require the lease's token.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

import redis
from sqlalchemy import Select, and_, func, select, text
from sqlalchemy.orm import Session

from shared.access.organizations import creations
from shared.evaluation.evaluation_jobs.listing import oldest_result_waiting
from shared.foundation.postgres import leases, transaction_time
from shared.foundation.queue.leased_step import HeldRow
from shared.foundation.queue.waiting import SETTLE, stored_until_each
from shared.watch.audits.models import Audit, AuditRun
from shared.watch.audits.rules import MAX_LOOKBACK_SECS
from shared.watch.audits.signals.interface import Window

LEASE_SECS = 60.0
# The limit of starts of a run. Only a worker that was killed in the middle, or that took so long
# that its heartbeat ended, uses one up.
MAX_ATTEMPTS = 3


@dataclass
class ClaimedRun(HeldRow[AuditRun]):
    """A run that this worker holds as long as it renews the lease.

    `row` is the run as it was claimed. Its `attempts` are above `MAX_ATTEMPTS` if it must not start
    again, and if `filed_at` is set, only the report and the end are missing.
    """

    started_at: datetime


# A queued run waits until all events accepted before it count as settled. The organization whose
# last run began longest ago comes first. An audit that is locked by a writer is left for later.
_NEXT = text("""
SELECT run.id
FROM audit_runs AS run
JOIN audits AS audit ON audit.org_id = run.org_id AND audit.id = run.audit_id
JOIN organizations AS org ON org.id = run.org_id
WHERE org.deleted_at IS NULL
    AND (CAST(:org_id AS uuid) IS NULL OR run.org_id = :org_id)
    AND (
        (run.status = 'queued'
            AND run.queued_at <= statement_timestamp() - make_interval(secs => :settle))
        OR (run.status = 'running' AND run.lease_expires_at <= statement_timestamp()))
ORDER BY
    (SELECT max(other.started_at) FROM audit_runs AS other WHERE other.org_id = run.org_id)
        NULLS FIRST,
    run.queued_at
LIMIT 1
FOR UPDATE OF run, audit SKIP LOCKED
""")


def claim(
    session: Session, client: redis.Redis, org_id: uuid.UUID | None = None
) -> ClaimedRun | None:
    """Takes a waiting run, or the run of a killed worker; returns None if there is none.

    `org_id` limits it to one organization. Raises `Unavailable` if Redis cannot report which events
    are stored, which the window depends on.
    """
    wanted = {"org_id": org_id, "settle": SETTLE.total_seconds()}
    run_id = session.execute(_NEXT, wanted).scalar_one_or_none()
    if run_id is None:
        return None
    run = session.scalars(select(AuditRun).where(AuditRun.id == run_id)).one()
    audit = session.scalars(
        select(Audit).where(Audit.org_id == run.org_id, Audit.id == run.audit_id)
    ).one()
    now = transaction_time(session)
    if run.started_at is None:
        run.started_at = now
        run.window_from, run.window_to = _window(session, client, audit)
        creations.record(session, run.org_id, "audit_run")
        audit.last_attempted_at, audit.last_error = now, None
    only = and_(AuditRun.org_id == run.org_id, AuditRun.id == run_id)
    changes = {"status": "running", "attempts": AuditRun.attempts + 1}
    lease, [(row,)] = leases.take(session, AuditRun, only, LEASE_SECS, (AuditRun,), **changes)
    return ClaimedRun(lease, row, run.started_at)


def give_back(session: Session, run: ClaimedRun, *, after_secs: float) -> None:
    """Frees the run unfinished, to be taken again in `after_secs`; uses up no attempt.

    Only for temporary causes: a run that is always given back starts again forever.
    """
    run.lease.end(
        session, attempts=AuditRun.attempts - 1, lease_expires_at=leases.in_secs(after_secs)
    )


def audit_of(claimed: ClaimedRun) -> Select[Audit]:
    """Returns the query for the audit of a run as it is now."""
    of_run = (Audit.org_id == claimed.row.org_id, Audit.id == claimed.row.audit_id)
    return select(Audit).where(*of_run)


def window_of(run: AuditRun) -> Window:
    """Returns the window of a run that has begun."""
    if run.window_from is None or run.window_to is None:
        raise ValueError("a run has no window before it is begun")
    return Window(run.window_from, run.window_to)


def held(session: Session, claimed: ClaimedRun) -> tuple[Audit, AuditRun] | None:
    """Returns the audit and the run, locked until the transaction ends.

    Returns None if this worker no longer holds the run, or if it was deleted with its audit.
    """
    audit = session.scalars(audit_of(claimed).with_for_update()).one_or_none()
    run = session.scalars(
        select(AuditRun).where(claimed.lease.held).with_for_update()
    ).one_or_none()
    return None if audit is None or run is None else (audit, run)


def _window(session: Session, client: redis.Redis, audit: Audit) -> tuple[datetime, datetime]:
    """Returns the window: from the end of the last one, or for a fixed time before its own end.

    It ends where events and results of evaluations are surely stored, and is empty if that is not
    after its start. After a long pause it has the longest length that a fixed one can have.
    """
    [stop] = stored_until_each(client, [str(audit.org_id)])
    waiting = oldest_result_waiting(session, audit.org_id)
    if waiting is not None:
        stop = min(stop, waiting)
    start = stop - timedelta(seconds=audit.lookback_window_secs)
    if audit.window_mode == "since_last":
        last = session.scalar(
            select(func.max(AuditRun.window_to)).where(
                AuditRun.org_id == audit.org_id,
                AuditRun.audit_id == audit.id,
                AuditRun.status == "succeeded",
            )
        )
        if last is not None:
            stop = max(stop, last)
            start = max(last, stop - timedelta(seconds=MAX_LOOKBACK_SECS))
    return start, stop
