"""Records the results of a run: its findings with their incidents, its report, its end.

Each record is one transaction that takes effect only while the worker holds the run. Findings are
filed once: a worker that takes over a run with filed findings continues with the report.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from shared.foundation.core.actor import SYSTEM
from shared.foundation.core.clock import format_ts
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import transaction_time
from shared.watch.audits.findings import filing, incident
from shared.watch.audits.findings.evidence import AuditEvidence
from shared.watch.audits.findings.filing import FilingCounts
from shared.watch.audits.findings.models import Finding
from shared.watch.audits.models import Audit, AuditRun
from shared.watch.audits.runs import claims
from shared.watch.audits.runs.claims import ClaimedRun
from shared.watch.audits.runs.looking import RunFindings
from shared.watch.audits.runs.report import AuditReport
from shared.watch.incidents import service as incidents
from shared.watch.incidents.opening import Breach, Opening, origin_of


def file(runtime: Runtime, claimed: ClaimedRun, looked: RunFindings) -> FilingCounts | None:
    """Files findings and opens incidents for the critical ones; returns None if the run is lost.

    `top_k` and the channels are the audit's current ones.
    """
    with runtime.postgres.transaction() as session:
        held = claims.held(session, claimed)
        if held is None:
            return None
        audit, run = held
        filed = filing.file(session, run, audit, looked.candidates, looked.total_sessions)
        affected = {one.fingerprint: one.affected_sessions for one in reversed(looked.candidates)}
        for finding in filed.critical:
            opening = _opening(audit, run, finding, affected[finding.fingerprint], looked)
            incidents.open_incident(session, runtime, opening)
        run.stats = dict(looked.stats)
        run.findings_count, run.new_findings_count = filed.found, filed.new
        run.filed_at = transaction_time(session)
        return filed


def succeed(runtime: Runtime, claimed: ClaimedRun, report: AuditReport) -> bool:
    """Ends a run whose findings are filed; returns False if it is lost."""
    with runtime.postgres.transaction() as session:
        held = claims.held(session, claimed)
        if held is not None:
            _succeed(session, held[1], report)
        return held is not None


def fail(
    runtime: Runtime, claimed: ClaimedRun, error: str, stats: Mapping[str, Any] | None = None
) -> bool:
    """Ends a run that failed; returns False if it is lost.

    The audit shows the error sentence too. Filed findings stay filed; only the report is missing.
    """
    with runtime.postgres.transaction() as session:
        held = claims.held(session, claimed)
        if held is None:
            return False
        audit, run = held
        if run.filed_at is not None:
            _succeed(session, run, AuditReport(error=error))
        else:
            run.stats = dict(stats or {})
            run.error = audit.last_error = error
            _end(session, run, "failed")
        return True


def _succeed(session: Session, run: AuditRun, report: AuditReport) -> None:
    run.report = report.markdown
    if report.error is not None:
        run.stats = {**run.stats, "report_error": report.error}
    _end(session, run, "succeeded")


def _end(session: Session, run: AuditRun, status: str) -> None:
    run.status, run.finished_at = status, transaction_time(session)
    run.lease_token = run.lease_expires_at = None


def _opening(
    audit: Audit, run: AuditRun, finding: Finding, affected_sessions: int, looked: RunFindings
) -> Opening:
    of_all = f"{affected_sessions} of {looked.total_sessions} sessions"
    window = claims.window_of(run)
    evidence: AuditEvidence = {
        **finding.evidence,
        "affected_sessions": affected_sessions,
        "total_sessions": looked.total_sessions,
        "window": {
            "from": format_ts(window.start),
            "to": format_ts(window.stop),
        },
    }
    return Opening(
        org_id=audit.org_id,
        title=finding.title,
        source="audit",
        severity=finding.severity,
        breach=Breach(float(affected_sessions), f"{of_all}: {finding.description}", evidence),
        actor=SYSTEM,
        finding_id=finding.id,
        hold=partial(incident.hold, finding.id),
        origin=origin_of(audit.id, audit.name, audit.description),
        channels=tuple(audit.channels),
    )
