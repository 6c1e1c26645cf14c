"""Gets the report of a run from its filed findings; after any failure the run has no report."""

from shared.foundation.core.errors import WatchpostError
from shared.foundation.core.logs import get_logger
from shared.foundation.deployment.runtime import Runtime
from shared.reading.sessions import facts
from shared.watch.audits.findings import service as findings
from shared.watch.audits.findings.service import FindingFilter
from shared.watch.audits.runs import claims, report
from shared.watch.audits.runs.claims import ClaimedRun
from shared.watch.audits.runs.report import Ask, AuditReport, ModelMessage, ReportFailed

log = get_logger(__name__)


def written(runtime: Runtime, claimed: ClaimedRun, ask: Ask | None) -> AuditReport:
    """Returns the report of a run with filed findings; errors of the model are never raised."""
    if ask is None:
        return AuditReport()
    try:
        messages = _messages(runtime, claimed)
        if messages is None:
            return AuditReport()
        draft = report.read(ask(messages))
        existing = facts.fetch(runtime.clickhouse, str(claimed.row.org_id), sorted(draft.cited))
        return AuditReport(report.write(draft, existing.keys()))
    except ReportFailed as error:
        reason = str(error)
    except WatchpostError as error:
        reason = error.message
    except Exception:
        log.exception("audit_report_broke")
        reason = "the report ended with an unexpected error"
    log.warning("audit_report_failed", reason=reason)
    return AuditReport(error=reason)


def _messages(runtime: Runtime, claimed: ClaimedRun) -> list[ModelMessage] | None:
    """Returns the request for the report; None if no report is wanted or nothing was found."""
    with runtime.postgres.transaction() as session:
        audit = session.scalar(claims.audit_of(claimed))
        if audit is None or not audit.llm_enabled:
            return None
        wanted = FindingFilter(audit_id=claimed.row.audit_id, run_id=claimed.row.id)
        ranked = findings.list_(
            session, claimed.row.org_id, wanted, limit=report.MAX_FINDINGS, offset=0
        )
        if not ranked:
            return None
        return report.messages(audit, [one.finding for one in ranked])
