"""Audits, their runs and their context."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from shared.watch.audits import service as audits
from shared.watch.audits.findings import service as findings
from shared.watch.audits.models import AuditRun
from shared.watch.audits.rules import ReportContext
from shared.watch.audits.runs import requests as runs
from shared.watch.audits.service import ListedAudit
from web.audits import schemas
from web.auth import current_identity, requires
from web.blueprint import Blueprint
from web.responses import row_of
from web.state import runtime
from web.transaction import Tx, in_transaction

blueprint = Blueprint("audits", "Recurring searches of events for patterns worth a change")


@blueprint.route("/audits")
@requires("audits:read")
@blueprint.response(200, schemas.AuditRow(many=True))
@in_transaction
def list_audits(tx: Tx) -> list[dict[str, Any]]:
    """List the organization's audits, newest first."""
    found = audits.list_(*tx)
    open_counts = findings.open_counts(*tx)
    return [_row(one, open_counts) for one in found]


@blueprint.route("/audits", methods=["POST"])
@requires("audits:write")
@blueprint.arguments(schemas.AuditBody)
@blueprint.response(201, schemas.AuditRow, errors=(409,))
@in_transaction
def create_audit(tx: Tx, body: dict[str, Any]) -> dict[str, Any]:
    """Create an audit. It runs at once unless it is disabled, and then on its schedule.

    An organization has at most 500 audits with at most 16 MiB in total.
    """
    author = current_identity().name
    made = audits.create(tx.session, runtime().queue, tx.org_id, _told(body), created_by=author)
    return _row(made, {})


@blueprint.route("/audits/<audit_id>")
@requires("audits:read")
@blueprint.response(200, schemas.AuditRow)
@in_transaction
def get_audit(tx: Tx, audit_id: str) -> dict[str, Any]:
    """Read one audit."""
    found = audits.get(*tx, audit_id)
    return _row(found, findings.open_counts(*tx))


@blueprint.route("/audits/<audit_id>", methods=["PUT"])
@requires("audits:write")
@blueprint.arguments(schemas.AuditBody)
@blueprint.response(200, schemas.AuditRow, errors=(409,))
@in_transaction
def change_audit(tx: Tx, body: dict[str, Any], audit_id: str) -> dict[str, Any]:
    """Change an audit. Absent fields stay unchanged.

    With a new schedule, or enabled again, it runs at the next point of its schedule. Disabling it
    cancels a queued run. A run in progress goes on.
    """
    changed = audits.replace(*tx, audit_id, _told(body))
    return _row(changed, findings.open_counts(*tx))


@blueprint.route("/audits/<audit_id>", methods=["DELETE"])
@requires("audits:write")
@blueprint.response(204)
@in_transaction
def delete_audit(tx: Tx, audit_id: str) -> None:
    """Delete an audit with its runs and findings for good, even while it is running."""
    audits.delete(*tx, audit_id)


@blueprint.route("/audits/<audit_id>/run", methods=["POST"])
@requires("audits:write")
@blueprint.response(202, schemas.QueuedAuditRun, errors=(409,))
@in_transaction
def run_audit(tx: Tx, audit_id: str) -> dict[str, Any]:
    """Queue a run, or return the run that is already queued.

    The answer is 409 with `audit_disabled` while the audit is disabled, and with `audit_running`
    while it is running.
    """
    run_id = runs.request(tx.session, runtime().queue, tx.org_id, audit_id)
    return {"queued": True, "run_id": run_id}


@blueprint.route("/audits/<audit_id>/runs")
@requires("audits:read")
@blueprint.arguments(schemas.AuditRunQuery, location="query")
@blueprint.response(200, schemas.AuditRunRow(many=True))
@in_transaction
def list_runs(tx: Tx, query: dict[str, Any], audit_id: str) -> list[AuditRun]:
    """List the runs of an audit, newest first. A queued run appears once it starts."""
    return runs.list_(*tx, audit_id, **query)


@blueprint.route("/audits/<audit_id>/context")
@requires("audits:read")
@blueprint.response(200, schemas.AuditContext)
@in_transaction
def get_context(tx: Tx, audit_id: str) -> ReportContext:
    """Read the background about the agents that the writer of an audit's reports gets."""
    return audits.context(*tx, audit_id)


@blueprint.route("/audits/<audit_id>/context", methods=["PUT"])
@requires("audits:write")
@blueprint.arguments(schemas.AuditContextBody)
@blueprint.response(200, schemas.AuditContext, errors=(409,))
@in_transaction
def set_context(tx: Tx, body: dict[str, Any], audit_id: str) -> ReportContext:
    """Replace the background about the agents that the writer of an audit's reports gets."""
    wanted = ReportContext(body["text"] or "", body["urls"] or [])
    return audits.set_context(*tx, audit_id, wanted)


def _told(body: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields that were sent. Null counts as absent except for the description."""
    return {
        name: value for name, value in body.items() if value is not None or name == "description"
    }


def _row(found: ListedAudit, open_counts: Mapping[UUID, int]) -> dict[str, Any]:
    audit = found.audit
    return row_of(
        schemas.AuditRow,
        found,
        audit,
        open_findings=open_counts.get(audit.id, 0),
        additional_context=audit.context_text,
        reference_url_count=len(audit.context_urls),
    )
