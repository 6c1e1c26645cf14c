"""Audits of an organization; `shared.watch.audits.runs` queues and executes their runs."""

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Select, func, select, true
from sqlalchemy import delete as sql_delete
from sqlalchemy.orm import Session

from shared.access.audit_log import fields_of, record
from shared.foundation.postgres import after_commit, transaction_time
from shared.foundation.postgres.rows import require_columns, require_row, sizes
from shared.foundation.queue import Queue
from shared.foundation.queue.jobs import SCHEDULE_AUDITS
from shared.watch.audits.lock import lock_findings
from shared.watch.audits.models import Audit, AuditRun
from shared.watch.audits.rules import (
    ROOM,
    ReportContext,
    checked,
    checked_context,
    defaults,
    size_of,
)
from shared.watch.audits.schedule import next_point

# A change of one of these changes the time of the next run.
_SCHEDULE = ("enabled", "schedule_interval_secs", "schedule_anchor")


class ListedAudit(NamedTuple):
    """An audit with the status of its newest run; both are None before the first one."""

    audit: Audit
    last_run_status: str | None
    last_run_finished_at: datetime | None


def list_(session: Session, org_id: uuid.UUID) -> list[ListedAudit]:
    """Lists the organization's audits, newest first."""
    newest_first = _with_newest_run(org_id).order_by(Audit.created_at.desc(), Audit.id)
    return [ListedAudit(*row) for row in session.execute(newest_first)]


def get(session: Session, org_id: uuid.UUID, audit_id: str) -> ListedAudit:
    """Returns one audit; raises `NotFound`."""
    audits = _with_newest_run(org_id)
    return ListedAudit(*require_columns(session, audits, Audit.id, audit_id, "audit"))


def changeable(session: Session, org_id: uuid.UUID, audit_id: str | uuid.UUID) -> Audit:
    """Locks one audit until the transaction ends; raises `NotFound`.

    Every change of an audit's runs or findings locks the audit first, so transactions cannot
    deadlock.
    """
    audits = select(Audit).where(Audit.org_id == org_id).with_for_update()
    return require_row(session, audits, Audit.id, audit_id, "audit")


def create(
    session: Session,
    queue: Queue,
    org_id: uuid.UUID,
    wanted: Mapping[str, Any],
    *,
    created_by: str,
) -> ListedAudit:
    """Creates an audit, which is due at once if it is enabled.

    `wanted` has its `name` and any fields of `rules.defaults`, whose values fill in the rest.
    Raises `Invalid` naming the field, `Conflict` if there is no room for another audit.
    """
    moment = transaction_time(session)
    columns = checked({**defaults(moment), **wanted}, moment)
    ROOM.require(session, _sizes(org_id), size_of(columns), what="audits")
    audit = Audit(
        org_id=org_id,
        next_attempt_at=moment if columns["enabled"] else None,
        context_text="",
        context_urls=[],
        created_by=created_by,
        created_at=moment,
        updated_at=moment,
        **columns,
    )
    session.add(audit)
    session.flush()
    record(session, org_id, "audit.create", of=audit, after=_logged(audit))
    after_commit(session, lambda: queue.nudge_soon(SCHEDULE_AUDITS))
    return ListedAudit(audit, None, None)


def replace(
    session: Session, org_id: uuid.UUID, audit_id: str, wanted: Mapping[str, Any]
) -> ListedAudit:
    """Sets the fields in `wanted`; raises `NotFound`, and the errors of `create`.

    With another schedule, or enabled again, the audit runs at the next point of its schedule.
    Disabling it removes a queued run; a running one continues.
    """
    moment = transaction_time(session)
    columns = checked(wanted, moment)
    audit = changeable(session, org_id, audit_id)
    before = _logged(audit)
    rescheduled = any(
        name in columns and getattr(audit, name) != columns[name] for name in _SCHEDULE
    )
    for name, value in columns.items():
        setattr(audit, name, value)
    _require_room(session, audit)
    audit.updated_at = moment
    if rescheduled:
        audit.next_attempt_at = _next_attempt(audit, moment)
    if not audit.enabled:
        queued = (AuditRun.audit_id == audit.id) & (AuditRun.status == "queued")
        session.execute(sql_delete(AuditRun).where(AuditRun.org_id == org_id, queued))
    session.flush()
    record(session, org_id, "audit.update", of=audit, before=before, after=_logged(audit))
    return get(session, org_id, str(audit.id))


def delete(session: Session, org_id: uuid.UUID, audit_id: str) -> None:
    """Deletes an audit with its runs and findings; raises `NotFound`.

    Locks the organization's findings after the audit, like a run that files findings.
    Deleting findings updates their incidents, while resolving an incident updates its finding.
    """
    audit = changeable(session, org_id, audit_id)
    lock_findings(session, org_id)
    session.delete(audit)
    before = _logged(audit)
    record(session, org_id, "audit.delete", of=audit, before=before)


def context(session: Session, org_id: uuid.UUID, audit_id: str) -> ReportContext:
    """Returns the context of an audit; raises `NotFound`."""
    audit = get(session, org_id, audit_id).audit
    return ReportContext(audit.context_text, audit.context_urls)


def set_context(
    session: Session, org_id: uuid.UUID, audit_id: str, wanted: ReportContext
) -> ReportContext:
    """Replaces the context; raises `NotFound`, `Invalid` naming the field, and `Conflict`."""
    checked_wanted = checked_context(wanted)
    audit = changeable(session, org_id, audit_id)
    before = fields_of(audit, "context_text", "context_urls")
    audit.context_text, audit.context_urls = checked_wanted
    _require_room(session, audit)
    record(
        session,
        org_id,
        "audit.update",
        of=audit,
        before=before,
        after=fields_of(audit, "context_text", "context_urls"),
    )
    audit.updated_at = transaction_time(session)
    return checked_wanted


def _logged(audit: Audit) -> dict[str, object]:
    return fields_of(audit, "name", *defaults(audit.created_at))


def _next_attempt(audit: Audit, now: datetime) -> datetime | None:
    if not audit.enabled:
        return None
    if audit.next_attempt_at is not None and audit.next_attempt_at <= now:
        # The audit is already due, and a new schedule does not delay that.
        return audit.next_attempt_at
    return next_point(now, audit.schedule_anchor, audit.schedule_interval_secs)


def _with_newest_run(org_id: uuid.UUID) -> Select[Audit, str, datetime]:
    newest = (
        select(AuditRun.status, AuditRun.finished_at)
        .where(
            AuditRun.org_id == Audit.org_id,
            AuditRun.audit_id == Audit.id,
            AuditRun.started_at.is_not(None),
        )
        .order_by(AuditRun.started_at.desc())
        .limit(1)
        .lateral()
    )
    return (
        select(Audit, newest.c.status, newest.c.finished_at)
        .outerjoin(newest, true())
        .where(Audit.org_id == org_id)
    )


def _require_room(session: Session, audit: Audit) -> None:
    """Checks the size of an audit whose columns are set but not written yet."""
    with session.no_autoflush:
        columns = {name: getattr(audit, name) for name in defaults(audit.created_at)}
        size = size_of({"name": audit.name, **columns}) + len(audit.context_text.encode())
        others = _sizes(audit.org_id).where(Audit.id != audit.id)
        ROOM.require(session, others, size, what="audits")


def _sizes(org_id: uuid.UUID) -> Select[int]:
    ignored = func.array_to_string(Audit.ignore_error_types, "")
    texts = (Audit.name, Audit.description, ignored, Audit.context_text)
    return sizes(*texts, Audit.scope, Audit.channels).where(Audit.org_id == org_id)
