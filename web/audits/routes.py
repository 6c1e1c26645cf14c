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
from web.auth import current_identity, current_org_id, requires
from web.blueprint import Blueprint
from web.responses import row_of
from web.state import runtime

blueprint = Blueprint("audits", "Recurring searches of events for patterns worth a change")


@blueprint.route("/audits")
@requires("audits:read")
@blueprint.response(200, schemas.AuditRow(many=True))
def list_audits() -> list[dict[str, Any]]:
    """List the organization's audits, newest first."""
    with runtime().postgres.transaction() as session:
        found = audits.list_(session, current_org_id())
        open_counts = findings.open_counts(session, current_org_id())
        return [_row(one, open_counts) for one in found]


@blueprint.route("/audits", methods=["POST"])
@requires("audits:write")
@blueprint.arguments(schemas.AuditBody)
@blueprint.response(201, schemas.AuditRow, errors=(409,))
def create_audit(body: dict[str, Any]) -> dict[str, Any]:
    """Create an audit. It runs at once unless it is disabled, and then on its schedule.

    An organization has at most 500 audits with at most 16 MiB in total.
    """
    author = current_identity().name
    with runtime().postgres.transaction() as session:
        made = audits.create(
            session, runtime().queue, current_org_id(), _told(body), created_by=author
        )
        return _row(made, {})


@blueprint.route("/audits/<audit_id>")
@requires("audits:read")
@blueprint.response(200, schemas.AuditRow)
def get_audit(audit_id: str) -> dict[str, Any]:
    """Read one audit."""
    with runtime().postgres.transaction() as session:
        found = audits.get(session, current_org_id(), audit_id)
        return _row(found, findings.open_counts(session, current_org_id()))


@blueprint.route("/audits/<audit_id>", methods=["PUT"])
@requires("audits:write")
@blueprint.arguments(schemas.AuditBody)
@blueprint.response(200, schemas.AuditRow, errors=(409,))
def change_audit(body: dict[str, Any], audit_id: str) -> dict[str, Any]:
    """Change an audit. Absent fields stay unchanged.

    With a new schedule, or enabled again, it runs at the next point of its schedule. Disabling it
    cancels a queued run. A run in progress goes on.
    """
    with runtime().postgres.transaction() as session:
        changed = audits.replace(session, current_org_id(), audit_id, _told(body))
        return _row(changed, findings.open_counts(session, current_org_id()))


@blueprint.route("/audits/<audit_id>", methods=["DELETE"])
@requires("audits:write")
@blueprint.response(204)
def delete_audit(audit_id: str) -> None:
    """Delete an audit with its runs and findings for good, even while it is running."""
    with runtime().postgres.transaction() as session:
        audits.delete(session, current_org_id(), audit_id)


@blueprint.route("/audits/<audit_id>/run", methods=["POST"])
@requires("audits:write")
@blueprint.response(202, schemas.QueuedAuditRun, errors=(409,))
def run_audit(audit_id: str) -> dict[str, Any]:
    """Queue a run, or return the run that is already queued.

    The answer is 409 with `audit_disabled` while the audit is disabled, and with `audit_running`
    while it is running.
    """
    with runtime().postgres.transaction() as session:
        run_id = runs.request(session, runtime().queue, current_org_id(), audit_id)
    return {"queued": True, "run_id": run_id}


@blueprint.route("/audits/<audit_id>/runs")
@requires("audits:read")
@blueprint.arguments(schemas.AuditRunQuery, location="query")
@blueprint.response(200, schemas.AuditRunRow(many=True))
def list_runs(query: dict[str, int], audit_id: str) -> list[AuditRun]:
    """List the runs of an audit, newest first. A queued run appears once it starts."""
    with runtime().postgres.transaction() as session:
        return runs.list_(session, current_org_id(), audit_id, **query)


@blueprint.route("/audits/<audit_id>/context")
@requires("audits:read")
@blueprint.response(200, schemas.AuditContext)
def get_context(audit_id: str) -> ReportContext:
    """Read the background about the agents that the writer of an audit's reports gets."""
    with runtime().postgres.transaction() as session:
        return audits.context(session, current_org_id(), audit_id)


@blueprint.route("/audits/<audit_id>/context", methods=["PUT"])
@requires("audits:write")
@blueprint.arguments(schemas.AuditContextBody)
@blueprint.response(200, schemas.AuditContext, errors=(409,))
def set_context(body: dict[str, Any], audit_id: str) -> ReportContext:
    """Replace the background about the agents that the writer of an audit's reports gets."""
    wanted = ReportContext(body["text"] or "", body["urls"] or [])
    with runtime().postgres.transaction() as session:
        return audits.set_context(session, current_org_id(), audit_id, wanted)


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
