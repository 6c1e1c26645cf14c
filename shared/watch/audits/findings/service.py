"""Findings of an organization: lists and counts them, and resolves them with their incidents."""

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import ARRAY, Select, Text, case, func, literal, select
from sqlalchemy.orm import Session

from shared.foundation.postgres import transaction_time
from shared.foundation.postgres.rows import require_columns
from shared.watch.audits.findings.models import Finding, FindingAction, FindingSighting
from shared.watch.audits.findings.priority import ACKNOWLEDGED_FACTOR, SEVERITY_ORDER
from shared.watch.audits.findings.rules import ACTIVE, Status
from shared.watch.audits.lock import lock_findings
from shared.watch.audits.models import Audit

_SEVERITY = func.array_position(literal(SEVERITY_ORDER, ARRAY(Text)), Finding.severity)
# People who acknowledged a finding want to see the others first. Its priority stays unchanged.
_RANK = case(
    (Finding.acknowledged_at.is_not(None), Finding.priority * ACKNOWLEDGED_FACTOR),
    else_=Finding.priority,
)


class ListedFinding(NamedTuple):
    """A finding with its audit's name."""

    finding: Finding
    audit_name: str


@dataclass(frozen=True)
class FindingFilter:
    """Findings in one of `statuses`, of one audit, seen by one run."""

    statuses: Collection[Status] = ACTIVE
    audit_id: uuid.UUID | None = None
    run_id: uuid.UUID | None = None


def list_(
    session: Session, org_id: uuid.UUID, wanted: FindingFilter, *, limit: int, offset: int
) -> list[ListedFinding]:
    """Lists findings by severity, priority (acknowledged ones by half of it), age and title."""
    query = _of(org_id).where(Finding.status.in_(wanted.statuses))
    if wanted.audit_id is not None:
        query = query.where(Finding.audit_id == wanted.audit_id)
    if wanted.run_id is not None:
        seen = select(FindingSighting.finding_id).where(
            FindingSighting.org_id == org_id, FindingSighting.run_id == wanted.run_id
        )
        query = query.where(Finding.id.in_(seen))
    ordered = query.order_by(
        _SEVERITY.desc(), _RANK.desc(), Finding.created_at.desc(), Finding.title, Finding.id
    )
    return [ListedFinding(*row) for row in session.execute(ordered.limit(limit).offset(offset))]


def get(session: Session, org_id: uuid.UUID, finding_id: str) -> ListedFinding:
    """Returns one finding; raises `NotFound`."""
    return ListedFinding(*require_columns(session, _of(org_id), Finding.id, finding_id, "finding"))


def open_counts(session: Session, org_id: uuid.UUID) -> Mapping[uuid.UUID, int]:
    """Counts open and recurring findings by audit; leaves out audits without any."""
    query = (
        select(Finding.audit_id, func.count())
        .where(Finding.org_id == org_id, Finding.status.in_(ACTIVE))
        .group_by(Finding.audit_id)
    )
    return dict(session.execute(query).all())


def changeable(query: Select[Finding]) -> Select[Finding]:
    """Returns the query with its findings in their current state and locked.

    Rows that refer to them can still be written, and the deletion of an audit waits.
    """
    locking = query.with_for_update(of=Finding, key_share=True)
    return locking.execution_options(populate_existing=True)


def resolve_for_incident(session: Session, finding_id: uuid.UUID, by: str) -> None:
    """Resolves the finding of an incident, if it is open or recurring.

    A muted or dismissed finding stays so. The caller has called `lock_findings` before it locked
    the incident.
    """
    org_id = session.scalar(select(Finding.org_id).where(Finding.id == finding_id))
    if org_id is None:
        return
    lock_findings(session, org_id)
    query = select(Finding).where(Finding.org_id == org_id, Finding.id == finding_id)
    finding = session.scalars(changeable(query)).one_or_none()
    if finding is not None and finding.status in ACTIVE:
        mark_resolved(session, finding, by, reason="its incident was resolved")


def mark_resolved(session: Session, finding: Finding, by: str, *, reason: str | None) -> None:
    """Resolves a finding that is open or recurring, and records the actor."""
    finding.status, finding.updated_at = "resolved", transaction_time(session)
    session.add(
        FindingAction(
            org_id=finding.org_id, finding_id=finding.id, action="resolve", reason=reason, actor=by
        )
    )


def _of(org_id: uuid.UUID) -> Select[Finding, str]:
    return (
        select(Finding, Audit.name)
        .join(Audit, (Audit.org_id == Finding.org_id) & (Audit.id == Finding.audit_id))
        .where(Finding.org_id == org_id)
    )
