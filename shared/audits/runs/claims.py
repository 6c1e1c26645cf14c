"""Taking a run, keeping it, and giving it back: leases in PostgreSQL, by PostgreSQL's clock.

A run that a killed worker had is taken over when its lease ends, and keeps its window: whoever
finishes it looked at the same events. What is written of it is conditional on the lease's token.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import redis
from sqlalchemy import func, select, text, update
from sqlalchemy.orm import Session

from shared.audits.models import Audit, AuditRun
from shared.audits.rules import MAX_LOOKBACK_SECS
from shared.audits.signals import Window
from shared.core.ids import new_id
from shared.evaluation_jobs.service import oldest_result_waiting
from shared.events.ingest.stored import SETTLE, stored_until_each
from shared.organizations import creations
from shared.postgres import transaction_time

LEASE_SECS = 60.0
# How often a run may be begun; only a worker that was killed in the middle, or that took so long
# that its heartbeat ended, uses one up.
MAX_ATTEMPTS = 3


@dataclass(frozen=True)
class Claim:
    """A run in the hands of this worker for as long as it renews the lease.

    `attempt` counts from 1 and is above `MAX_ATTEMPTS` for a run that is not to be begun again.
    `is_filed`: all that is missing is the report and the end.
    """

    run_id: uuid.UUID
    audit_id: uuid.UUID
    org_id: uuid.UUID
    request_id: str
    lease_token: uuid.UUID
    attempt: int
    started_at: datetime
    is_filed: bool


# A queued run waits until what was accepted before it counts as settled. The organization whose
# last run began longest ago comes first. An audit that somebody is writing is left for later.
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


def claim(session: Session, client: redis.Redis, org_id: uuid.UUID | None = None) -> Claim | None:
    """Takes a run that waits, or that a killed worker left; None when there is none.

    `org_id` limits it to one organization. Raises `Unavailable` when Redis cannot say what is
    stored, which a window depends on.
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
    run.status = "running"
    run.attempts += 1
    run.lease_token = new_id()
    run.lease_expires_at = now + timedelta(seconds=LEASE_SECS)
    return Claim(
        run_id=run.id,
        audit_id=run.audit_id,
        org_id=run.org_id,
        request_id=run.request_id,
        lease_token=run.lease_token,
        attempt=run.attempts,
        started_at=run.started_at,
        is_filed=run.filed_at is not None,
    )


def renew(session: Session, claim: Claim) -> bool:
    """Keeps the run for another while; False when it is for others now, or gone."""
    renewed = session.execute(
        update(AuditRun)
        .where(*_held(claim), AuditRun.lease_expires_at > func.statement_timestamp())
        .values(lease_expires_at=_in_secs(LEASE_SECS))
        .returning(AuditRun.id)
    )
    return renewed.one_or_none() is not None


def give_back(session: Session, claim: Claim, *, after_secs: float) -> None:
    """Frees the run without an end, to be taken again in `after_secs`; no attempt is used up.

    Only for what ends by itself: a run that is always given back is begun again and again.
    """
    session.execute(
        update(AuditRun)
        .where(*_held(claim))
        .values(
            attempts=AuditRun.attempts - 1,
            lease_token=None,
            lease_expires_at=_in_secs(after_secs),
        )
    )


def current(session: Session, claim: Claim) -> tuple[Audit, AuditRun] | None:
    """The audit and the run as they are now, None when they are deleted."""
    query = (
        select(Audit, AuditRun)
        .join(AuditRun, (AuditRun.org_id == Audit.org_id) & (AuditRun.audit_id == Audit.id))
        .where(Audit.org_id == claim.org_id, AuditRun.id == claim.run_id)
    )
    found = session.execute(query).one_or_none()
    return None if found is None else (found[0], found[1])


def window_of(run: AuditRun) -> Window:
    """What a run that was begun looks at."""
    if run.window_from is None or run.window_to is None:
        raise ValueError("a run has no window before it is begun")
    return Window(run.window_from, run.window_to)


def held(session: Session, claim: Claim) -> tuple[Audit, AuditRun] | None:
    """The audit and the run, locked until the transaction ends.

    None when the run is not in this worker's hands any more, or deleted with its audit.
    """
    audits = select(Audit).where(Audit.org_id == claim.org_id, Audit.id == claim.audit_id)
    audit = session.scalars(audits.with_for_update()).one_or_none()
    run = session.scalars(select(AuditRun).where(*_held(claim)).with_for_update()).one_or_none()
    return None if audit is None or run is None else (audit, run)


def _held(claim: Claim) -> tuple[Any, ...]:
    return (
        AuditRun.org_id == claim.org_id,
        AuditRun.id == claim.run_id,
        AuditRun.lease_token == claim.lease_token,
    )


def _in_secs(seconds: float) -> Any:
    return func.statement_timestamp() + func.make_interval(0, 0, 0, 0, 0, 0, seconds)


def _window(session: Session, client: redis.Redis, audit: Audit) -> tuple[datetime, datetime]:
    """From the end of the last window that was looked at, or a fixed time before its own end.

    It ends where events and results of evaluations are surely stored, and is empty where that is
    not after its start. After a long pause it has the longest length that a fixed one can have.
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
