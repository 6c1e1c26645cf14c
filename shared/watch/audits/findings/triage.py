"""Decisions of people about findings; a decision may affect other findings too."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Literal

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from shared.access.audit_log import fields_of, record
from shared.access.users.members import memberships_of
from shared.foundation.core.actor import Actor
from shared.foundation.core.bounds import require_text
from shared.foundation.core.email_address import normal_address
from shared.foundation.core.errors import Conflict, Invalid
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import transaction_time
from shared.foundation.postgres.rows import require_row
from shared.watch.audits.findings.models import Finding, FindingAction, Suppression
from shared.watch.audits.findings.rules import ACTIVE, SUPPRESSED, Status
from shared.watch.audits.findings.service import changeable, mark_resolved
from shared.watch.audits.lock import lock_findings
from shared.watch.incidents import service as incidents
from shared.watch.incidents.models import Incident

Action = Literal["ack", "mute", "dismiss", "resolve", "reopen", "assign"]

MAX_REASON_LENGTH = 2000
_LOGGED = ("status", "assigned_to", "acknowledged_at")


@dataclass(frozen=True)
class _Decision:
    """An action on `finding`, with its actor and the reason."""

    session: Session
    runtime: Runtime
    finding: Finding
    action: Action
    actor: Actor
    reason: str | None
    assigned_to: str | None
    moment: datetime


def act(
    session: Session,
    runtime: Runtime,
    org_id: uuid.UUID,
    finding_id: str,
    action: Action,
    actor: Actor,
    *,
    reason: str | None = None,
    assigned_to: str | None = None,
) -> Finding:
    """Applies a decision to a finding, records it, and returns the finding.

    The actor gets no mail about the incident.

    - `ack` lowers its place in the list and keeps priority and status; the first one is kept.
    - `mute` and `dismiss` suppress the fingerprint: no audit of the organization files it any more,
      and all unresolved findings with it get that status.
    - `resolve` resolves its open incident too. If the pattern is seen again, it is a new finding.
    - `reopen` makes it `open`, ends a suppression for all findings with the fingerprint, and undoes
      an `ack`; for an `ack` alone the status stays.
    - `assign` assigns it to an active member.

    An action without effect succeeds and is not recorded. An action that makes no sense raises
    `Conflict` with the code `finding_state`: `ack` and `resolve` of a muted or dismissed finding,
    everything but `resolve` and `reopen` of a resolved one, and `reopen` of a resolved one if the
    audit has a newer finding of the pattern. Raises `NotFound`, and `Invalid` naming `reason` or
    `assigned_to`.
    """
    if reason is not None:
        require_text("reason", reason, most=MAX_REASON_LENGTH)
    lock_findings(session, org_id)
    finding = _one(session, org_id, finding_id)
    moment = transaction_time(session)
    decision = _Decision(session, runtime, finding, action, actor, reason, assigned_to, moment)
    before = fields_of(finding, *_LOGGED)
    _ACTIONS[action](decision)
    session.flush()
    record(
        session,
        org_id,
        f"finding.{action}",
        target=finding.id,
        name=finding.title,
        before=before,
        after={**fields_of(finding, *_LOGGED), "reason": reason},
    )
    return finding


def _ack(decision: _Decision) -> None:
    finding = decision.finding
    _require_not(decision, *SUPPRESSED, "resolved")
    if finding.acknowledged_at is None:
        finding.acknowledged_at = decision.moment
        _record(decision, finding)


def _suppress(decision: _Decision, status: Status) -> None:
    _require_not(decision, "resolved")
    if decision.finding.status == status:
        return
    content = {
        "action": decision.action,
        "reason": decision.reason,
        "created_by": decision.actor.name,
        "created_at": decision.moment,
    }
    row = insert(Suppression).values(
        org_id=decision.finding.org_id, fingerprint=decision.finding.fingerprint, **content
    )
    decision.session.execute(
        row.on_conflict_do_update(index_elements=["org_id", "fingerprint"], set_=content)
    )
    for finding in _of_pattern(decision):
        finding.status = status
        _record(decision, finding)


def _resolve(decision: _Decision) -> None:
    finding, session = decision.finding, decision.session
    if finding.status == "resolved":
        return
    _require_not(decision, *SUPPRESSED)
    mark_resolved(session, finding, decision.actor.name, reason=decision.reason)
    session.flush()
    incident_id = session.scalar(
        select(Incident.id).where(
            Incident.org_id == finding.org_id,
            Incident.source_finding_id == finding.id,
            Incident.state != "resolved",
        )
    )
    if incident_id is not None:
        incidents.resolve(session, decision.runtime, finding.org_id, incident_id, decision.actor)


def _reopen(decision: _Decision) -> None:
    finding, session = decision.finding, decision.session
    others = [one for one in _of_pattern(decision) if one.id != finding.id]
    if finding.status == "resolved" and any(one.audit_id == finding.audit_id for one in others):
        raise _conflict("the audit has found this again: reopen the newer finding")
    if finding.status in ACTIVE and finding.acknowledged_at is None:
        return
    session.execute(
        delete(Suppression).where(
            Suppression.org_id == finding.org_id, Suppression.fingerprint == finding.fingerprint
        )
    )
    finding.acknowledged_at = None
    suppressed = [one for one in others if one.status in SUPPRESSED]
    for one in (finding, *suppressed):
        if one.status not in ACTIVE:
            one.status = "open"
        _record(decision, one)


def _assign(decision: _Decision) -> None:
    finding = decision.finding
    _require_not(decision, "resolved")
    if decision.assigned_to is None:
        raise Invalid.field("assigned_to", "is required to assign a finding")
    address = normal_address(decision.assigned_to, "assigned_to")
    members = memberships_of(decision.session, email=address)
    if finding.org_id not in {member.org_id for member in members}:
        raise Invalid.field("assigned_to", "must be the address of an active member")
    if finding.assigned_to != address:
        finding.assigned_to = address
        _record(decision, finding)


_ACTIONS: dict[Action, Callable[[_Decision], None]] = {
    "ack": _ack,
    "mute": partial(_suppress, status="muted"),
    "dismiss": partial(_suppress, status="dismissed"),
    "resolve": _resolve,
    "reopen": _reopen,
    "assign": _assign,
}


def _one(session: Session, org_id: uuid.UUID, finding_id: str) -> Finding:
    findings = changeable(select(Finding).where(Finding.org_id == org_id))
    return require_row(session, findings, Finding.id, finding_id, "finding")


def _of_pattern(decision: _Decision) -> list[Finding]:
    """Returns the unresolved findings with the fingerprint: at most one per audit."""
    query = select(Finding).where(
        Finding.org_id == decision.finding.org_id,
        Finding.fingerprint == decision.finding.fingerprint,
        Finding.status != "resolved",
    )
    return list(decision.session.scalars(changeable(query)))


def _require_not(decision: _Decision, *statuses: Status) -> None:
    status = decision.finding.status
    if status in statuses:
        raise _conflict(f"{decision.action} is not possible for a finding that is {status}")


def _conflict(message: str) -> Conflict:
    return Conflict(message, code="finding_state")


def _record(decision: _Decision, finding: Finding) -> None:
    finding.updated_at = decision.moment
    decision.session.add(
        FindingAction(
            org_id=finding.org_id,
            finding_id=finding.id,
            action=decision.action,
            reason=decision.reason,
            actor=decision.actor.name,
        )
    )
