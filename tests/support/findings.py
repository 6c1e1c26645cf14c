"""Audits, runs and candidates for the tests of findings, filed without a worker."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select

from shared.foundation.core.ids import new_request_id
from shared.foundation.deployment.runtime import Runtime
from shared.watch.audits.findings.filing import FilingCounts, file
from shared.watch.audits.findings.models import Finding
from shared.watch.audits.models import Audit, AuditRun
from shared.watch.audits.rules import defaults
from shared.watch.audits.signals.interface import Candidate, EvidenceQuery, Window
from tests.support.runtime import Org

STOP = datetime(2026, 3, 8, tzinfo=UTC)
WINDOW = Window(STOP - timedelta(days=7), STOP)
TOTAL_SESSIONS = 100


def candidate(name: str = "timeout", **fields: Any) -> Candidate:
    """Returns a pattern of this name: a medium warning in ten sessions, seen until the end."""
    made = Candidate(
        signal="error_cluster",
        key=(name,),
        title=f"Errors: {name}",
        category="errors",
        failure_type=name,
        kind="failure",
        severity="warning",
        magnitude="medium",
        affected_sessions=10,
        first_seen_at=WINDOW.start,
        last_seen_at=WINDOW.stop,
        description=f"{name} in ten sessions",
        session_ids=(f"session-of-{name}",),
        event_ids=(1, 2),
        numbers={"errors": 12, "share": 0.25},
        queries=(EvidenceQuery("The numbers", "SELECT 12 AS errors, 0.25 AS share"),),
    )
    return replace(made, **fields)


def critical(name: str = "leak", **fields: Any) -> Candidate:
    """Returns a critical pattern of this name."""
    return candidate(name, severity="critical", **fields)


class Audited:
    """An audit of an organization whose runs are filed here."""

    def __init__(self, runtime: Runtime, org: Org, name: str = "audit", **fields: Any) -> None:
        self.runtime, self.org = runtime, org
        with runtime.postgres.transaction() as session:
            columns = {**defaults(STOP), "enabled": False, "created_by": "t", **fields}
            audit = Audit(org_id=org.uuid, name=name, **columns)
            session.add(audit)
            session.flush()
        self.audit = audit

    def run(self) -> AuditRun:
        """Files a run that has ended. `file` files its findings."""
        with self.runtime.postgres.transaction() as session:
            run = AuditRun(
                org_id=self.org.uuid,
                audit_id=self.audit.id,
                status="succeeded",
                trigger_kind="scheduled",
                request_id=new_request_id(),
                window_from=WINDOW.start,
                window_to=WINDOW.stop,
            )
            session.add(run)
            session.flush()
        return run

    def file(self, *candidates: Candidate, run: AuditRun | None = None) -> FilingCounts:
        """Files these candidates, by default in a new run, and returns the filed ones."""
        with self.runtime.postgres.transaction() as session:
            return file(session, run or self.run(), self.audit, candidates, TOTAL_SESSIONS)

    def findings(self) -> list[Finding]:
        """Returns all findings of the audit, the oldest first."""
        query = select(Finding).where(Finding.audit_id == self.audit.id)
        with self.runtime.postgres.transaction() as session:
            return list(session.scalars(query.order_by(Finding.created_at, Finding.id)))

    def finding(self) -> Finding:
        """Returns the only finding of the audit."""
        [found] = self.findings()
        return found
