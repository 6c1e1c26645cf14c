"""Audit runs as people see them: queues them on request, and lists them from their start on."""

import uuid
from typing import Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.access.audit_log import record
from shared.foundation.core.errors import Conflict
from shared.foundation.core.ids import new_id, new_request_id
from shared.foundation.core.logs import current_request_id
from shared.foundation.postgres import after_commit
from shared.foundation.queue import Queue
from shared.foundation.queue.jobs import RUN_AUDITS
from shared.watch.audits import service
from shared.watch.audits.models import Audit, AuditRun

TriggerKind = Literal["scheduled", "manual"]

DEFAULT_PAGE, MAX_PAGE = 50, 200


def request(session: Session, queue: Queue, org_id: uuid.UUID, audit_id: str) -> uuid.UUID:
    """Queues a run and returns its id; if one is already queued, returns its id.

    Raises `NotFound`, and `Conflict` (`audit_disabled`, `audit_running`).
    """
    audit = service.changeable(session, org_id, audit_id)
    if not audit.enabled:
        raise Conflict("the audit is disabled: enable it first", code="audit_disabled")
    live = live_run(session, audit)
    if live is None:
        live = enqueue(session, queue, audit, "manual")
        after = {"run_id": live.id}
        record(session, org_id, "audit.run", of=audit, after=after)
    elif live.status != "queued":
        raise Conflict(
            "a run of the audit is under way: wait until it has ended", code="audit_running"
        )
    return live.id


def live_run(session: Session, audit: Audit) -> AuditRun | None:
    """Returns the run of an audit that is queued or running."""
    query = select(AuditRun).where(
        AuditRun.org_id == audit.org_id,
        AuditRun.audit_id == audit.id,
        AuditRun.status.in_(("queued", "running")),
    )
    return session.scalars(query).one_or_none()


def enqueue(session: Session, queue: Queue, audit: Audit, trigger_kind: TriggerKind) -> AuditRun:
    """Creates a run of an audit that the caller has locked and that has no live one."""
    run = AuditRun(
        id=new_id(),
        org_id=audit.org_id,
        audit_id=audit.id,
        trigger_kind=trigger_kind,
        request_id=current_request_id() or new_request_id(),
    )
    session.add(run)
    session.flush()
    after_commit(session, lambda: queue.nudge_soon(RUN_AUDITS))
    return run


def list_(
    session: Session, org_id: uuid.UUID, audit_id: str, *, limit: int, offset: int
) -> list[AuditRun]:
    """Lists the runs of an audit that have begun, newest first; raises `NotFound`."""
    audit = service.get(session, org_id, audit_id).audit
    query = (
        select(AuditRun)
        .where(
            AuditRun.org_id == org_id,
            AuditRun.audit_id == audit.id,
            AuditRun.started_at.is_not(None),
        )
        .order_by(AuditRun.started_at.desc(), AuditRun.id)
        .limit(limit)
        .offset(offset)
    )
    return list(session.scalars(query))
