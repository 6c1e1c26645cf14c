"""Findings of audits: list and read them, and decide about them."""

from typing import Any
from uuid import UUID

from shared.watch.audits.findings import service as findings
from shared.watch.audits.findings import triage
from shared.watch.audits.findings.rules import ACTIVE
from shared.watch.audits.findings.service import FindingFilter, ListedFinding
from web.audits.findings import schemas
from web.auth import current_actor, requires
from web.blueprint import Blueprint
from web.responses import row_of
from web.state import runtime
from web.transaction import Tx, in_transaction

blueprint = Blueprint("findings", "Findings of audits, and decisions about them")


@blueprint.route("/audits/findings")
@requires("audits:read")
@blueprint.arguments(schemas.FindingQuery, location="query", as_kwargs=True)
@blueprint.response(200, schemas.FindingRow(many=True))
@in_transaction
def list_findings(
    tx: Tx, status: list[Any], audit_id: UUID | None, run_id: UUID | None, limit: int, offset: int
) -> list[dict[str, Any]]:
    """List findings by priority, acknowledged ones by half of it, equal ones newest first."""
    wanted = FindingFilter(statuses=status or ACTIVE, audit_id=audit_id, run_id=run_id)
    page = findings.list_(*tx, wanted, limit=limit, offset=offset)
    return [_row(one) for one in page]


@blueprint.route("/audits/findings/<fid>")
@requires("audits:read")
@blueprint.response(200, schemas.FindingRow)
@in_transaction
def get_finding(tx: Tx, fid: str) -> dict[str, Any]:
    """Read one finding, whatever its status."""
    return _row(findings.get(*tx, fid))


@blueprint.route("/audits/findings/<fid>/status", methods=["POST"])
@requires("audits:write")
@blueprint.arguments(schemas.FindingActionBody)
@blueprint.response(200, schemas.FindingActionDone, errors=(409,))
@in_transaction
def act_on_finding(tx: Tx, body: dict[str, Any], fid: str) -> dict[str, Any]:
    """Acknowledge, mute, dismiss, resolve, reopen or assign a finding.

    - `ack` ranks the finding as if it had half of its priority. Priority and status stay.
    - `mute` and `dismiss` suppress the fingerprint in the whole organization: no audit files it
      again, and its findings in other audits get the same status. Its incident stays open.
    - `resolve` resolves the incident too. If the pattern appears again, it becomes a new finding.
    - `reopen` sets the status to `open`, ends the suppression for all findings of the fingerprint,
      and undoes an `ack`.
    - `assign` assigns it to the active member `assigned_to`, or answers 422 if there is none.

    An action without effect answers 200. The answer is 409 with the code `finding_state` for `ack`
    and `resolve` of a muted or dismissed finding, for any action but `resolve` and `reopen` on a
    resolved one, and for `reopen` of a resolved finding when the audit has a newer one of the same
    pattern.
    """
    action = body["action"]
    finding = triage.act(
        tx.session,
        runtime(),
        tx.org_id,
        fid,
        action,
        current_actor(),
        reason=body["reason"],
        assigned_to=body["assigned_to"],
    )
    return {"id": finding.id, "action": action, "ok": True, "status": finding.status}


def _row(listed: ListedFinding) -> dict[str, Any]:
    return row_of(schemas.FindingRow, listed.finding, audit_name=listed.audit_name)
