"""Gets the report of a run from its filed findings; after any failure the run has no report."""

from shared.audits.findings import service as findings
from shared.audits.findings.models import Finding
from shared.audits.findings.service import FindingFilter
from shared.audits.runs import claims, report
from shared.audits.runs.claims import ClaimedRun
from shared.audits.runs.report import Ask, Material, Report, ReportFailed, Told
from shared.core.errors import WatchpostError
from shared.core.logs import get_logger
from shared.deployment.runtime import Runtime
from shared.sessions import facts

log = get_logger(__name__)


def written(runtime: Runtime, claimed: ClaimedRun, ask: Ask | None) -> Report:
    """Returns the report of a run with filed findings; errors of the model are never raised."""
    if ask is None:
        return Report()
    try:
        material = _material(runtime, claimed)
        if material is None:
            return Report()
        draft = report.read(ask(report.messages(material)))
        existing = facts.fetch(runtime.clickhouse, str(claimed.row.org_id), sorted(draft.cited))
        return Report(report.write(draft, existing.keys()))
    except ReportFailed as error:
        reason = str(error)
    except WatchpostError as error:
        reason = error.message
    except Exception:
        log.exception("audit_report_broke")
        reason = "the report ended with an unexpected error"
    log.warning("audit_report_failed", reason=reason)
    return Report(error=reason)


def _material(runtime: Runtime, claimed: ClaimedRun) -> Material | None:
    """Returns the material for the report; None if no report is wanted or nothing was found."""
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
    return Material(
        audit_name=audit.name,
        context=audit.context_text,
        reference_urls=audit.context_urls,
        findings=[_told(one.finding) for one in ranked],
    )


def _told(finding: Finding) -> Told:
    return Told(
        title=finding.title,
        category=finding.category,
        severity=finding.severity,
        priority=finding.priority,
        occurrences=finding.occurrences,
        description=finding.description,
        numbers=finding.evidence["numbers"],
        session_ids=finding.evidence["session_ids"],
    )
