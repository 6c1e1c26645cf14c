"""What audits found: list and read it, and decide what becomes of it."""

from typing import Any
from uuid import UUID

from shared.audits.findings import service as findings
from shared.audits.findings import triage
from shared.audits.findings.rules import ACTIVE
from shared.audits.findings.service import FindingFilter, Listed
from web.audits.findings.schemas import (
    FindingActionBody,
    FindingActionDone,
    FindingQuery,
    FindingRow,
)
from web.auth import current_actor, current_org_id, requires
from web.blueprint import Blueprint
from web.state import runtime

blueprint = Blueprint("findings", "What audits found, and what people decided about it")

_COLUMNS = (
    "id",
    "audit_id",
    "fingerprint",
    "signal",
    "title",
    "category",
    "failure_type",
    "kind",
    "severity",
    "magnitude",
    "priority",
    "status",
    "occurrences",
    "first_seen_at",
    "last_seen_at",
    "description",
    "root_cause_hypothesis",
    "recommendation",
    "expected_impact",
    "effort",
    "evidence",
    "evidence_queries",
    "scope",
    "assigned_to",
    "issue_id",
)


@blueprint.route("/audits/findings")
@requires("audits:read")
@blueprint.arguments(FindingQuery, location="query", as_kwargs=True)
@blueprint.response(200, FindingRow(many=True))
def list_findings(
    status: list[Any], audit_id: UUID | None, run_id: UUID | None, limit: int, offset: int
) -> list[dict[str, Any]]:
    """List findings by priority, acknowledged ones by half of it, equal ones newest first."""
    wanted = FindingFilter(statuses=status or ACTIVE, audit_id=audit_id, run_id=run_id)
    with runtime().postgres.transaction() as session:
        page = findings.listing(session, current_org_id(), wanted, limit=limit, offset=offset)
    return [_row(one) for one in page]


@blueprint.route("/audits/findings/<fid>")
@requires("audits:read")
@blueprint.response(200, FindingRow)
def get_finding(fid: str) -> dict[str, Any]:
    """Read one finding, whatever its status."""
    with runtime().postgres.transaction() as session:
        return _row(findings.find(session, current_org_id(), fid))


@blueprint.route("/audits/findings/<fid>/status", methods=["POST"])
@requires("audits:write")
@blueprint.arguments(FindingActionBody)
@blueprint.response(200, FindingActionDone)
@blueprint.alt_response(409, "CONFLICT")
def act_on_finding(body: dict[str, Any], fid: str) -> dict[str, Any]:
    """Acknowledge, mute, dismiss, resolve, reopen or assign a finding.

    - `ack` moves it down the list, as if it had half of its priority. Priority and status stay.
    - `mute` and `dismiss` suppress its fingerprint in the whole organization: no audit files it any
      more, and what other audits have of it gets the same status. Its incident stays open.
    - `resolve` resolves its incident too; when the pattern is seen again, it is a new finding.
    - `reopen` makes it `open`, ends the suppression for all findings of the fingerprint, and takes
      back an `ack`, which alone leaves the status.
    - `assign` gives it to the active member `assigned_to`, 422 where that is none.

    What changes nothing is answered with 200. 409 with the code `finding_state` is for `ack` and
    `resolve` of what is muted or dismissed, all but `resolve` and `reopen` of what is resolved, and
    `reopen` of a resolved finding where the audit has a newer one of the pattern.
    """
    action = body["action"]
    with runtime().postgres.transaction() as session:
        finding = triage.act(
            session,
            runtime(),
            current_org_id(),
            fid,
            action,
            current_actor(),
            reason=body["reason"],
            assigned_to=body["assigned_to"],
        )
    return {"id": finding.id, "action": action, "ok": True, "status": finding.status}


def _row(listed: Listed) -> dict[str, Any]:
    columns = {name: getattr(listed.finding, name) for name in _COLUMNS}
    return {**columns, "audit_name": listed.audit_name}
