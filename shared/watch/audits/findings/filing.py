"""Turns the candidates of an audit run into new findings, or into sightings of earlier ones."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from shared.access import organizations
from shared.foundation.core.text import storable
from shared.foundation.postgres import transaction_time
from shared.reading.sessions import deleted
from shared.watch.audits.findings.models import Finding, FindingSighting, Suppression
from shared.watch.audits.findings.priority import SEVERITY_ORDER, priority
from shared.watch.audits.findings.rules import ACTIVE, SCOPES
from shared.watch.audits.findings.service import changeable
from shared.watch.audits.lock import lock_findings
from shared.watch.audits.models import Audit, AuditRun
from shared.watch.audits.signals.interface import Candidate, Window


@dataclass(frozen=True)
class FilingCounts:
    """The numbers of all and of new findings of a run, and the critical ones."""

    found: int
    new: int
    critical: list[Finding]


def file(
    session: Session,
    run: AuditRun,
    audit: Audit,
    candidates: Sequence[Candidate],
    total_sessions: int,
) -> FilingCounts:
    """Files the `top_k` most urgent candidates that the organization does not suppress.

    Of candidates with one fingerprint the first counts. If the audit already has a finding of the
    pattern that is not resolved, that finding is updated to this run, becomes `recurring` and gets
    one more occurrence; filing a run twice counts once. Any other pattern becomes a new finding.
    `critical` contains the findings that are critical and open or recurring.

    Other writers of the organization's findings wait until the caller's transaction ends, which
    must not have locked an incident yet. Raises `ValueError` for a run without a window.
    """
    lock_findings(session, audit.org_id)
    candidates = _of_what_is_there(session, audit.org_id, candidates)
    moment = transaction_time(session)
    wanted = _most_urgent(session, run, audit, candidates, total_sessions)
    counted = _by_fingerprint(session, _of_run(run))
    live = _by_fingerprint(session, _live(audit, [one.fingerprint for one, _ in wanted]))
    filed = []
    for candidate, urgency in wanted:
        fingerprint = candidate.fingerprint
        finding = counted.get(fingerprint) or live.get(fingerprint)
        if finding is None:
            finding = _new(session, audit, candidate, moment)
        elif fingerprint not in counted:
            finding.status, finding.occurrences = "recurring", finding.occurrences + 1
        if finding.status in ACTIVE:
            _describe(finding, audit, candidate, urgency, moment)
        if fingerprint not in counted:
            session.flush()
            session.add(FindingSighting(org_id=run.org_id, run_id=run.id, finding_id=finding.id))
        filed.append(finding)
    session.flush()
    return FilingCounts(
        found=len(filed),
        new=sum(finding.occurrences == 1 for finding in filed),
        critical=[one for one in filed if one.severity == "critical" and one.status in ACTIVE],
    )


def _of_what_is_there(
    session: Session, org_id: uuid.UUID, candidates: Sequence[Candidate]
) -> list[Candidate]:
    """Leaves out candidates that quote a session which was deleted after the signals read it.

    The next run finds the pattern in the other sessions. Deletions wait for the organization that
    is held here, and clean the findings that are filed by then.
    """
    organizations.hold(session, [org_id])
    cited = {(str(org_id), one) for candidate in candidates for one in candidate.session_ids}
    gone = {session_id for _, session_id in deleted.among(session, cited)}
    return [one for one in candidates if gone.isdisjoint(one.session_ids)]


def _most_urgent(
    session: Session,
    run: AuditRun,
    audit: Audit,
    candidates: Sequence[Candidate],
    total_sessions: int,
) -> list[tuple[Candidate, float]]:
    """Returns candidates with their priority, the most urgent first."""
    if run.window_from is None or run.window_to is None:
        raise ValueError("a run needs a window before its findings are filed")
    window = Window(run.window_from, run.window_to)
    unwanted = set(
        session.scalars(select(Suppression.fingerprint).where(Suppression.org_id == audit.org_id))
    )
    first: dict[str, Candidate] = {}
    for candidate in candidates:
        first.setdefault(candidate.fingerprint, candidate)
    ranked = [
        (candidate, priority(candidate, window, total_sessions))
        for fingerprint, candidate in first.items()
        if fingerprint not in unwanted
    ]
    return sorted(ranked, key=_urgency, reverse=True)[: audit.top_k]


def _urgency(ranked: tuple[Candidate, float]) -> tuple[int, float]:
    candidate, urgency = ranked
    return SEVERITY_ORDER.index(candidate.severity), urgency


def _live(audit: Audit, fingerprints: Sequence[str]) -> Select[Finding]:
    return select(Finding).where(
        Finding.org_id == audit.org_id,
        Finding.audit_id == audit.id,
        Finding.fingerprint.in_(fingerprints),
        Finding.status != "resolved",
    )


def _of_run(run: AuditRun) -> Select[Finding]:
    """Selects the findings that a run was counted for."""
    return (
        select(Finding)
        .join(FindingSighting, FindingSighting.finding_id == Finding.id)
        .where(
            Finding.org_id == run.org_id,
            FindingSighting.org_id == run.org_id,
            FindingSighting.run_id == run.id,
        )
    )


def _by_fingerprint(session: Session, query: Select[Finding]) -> dict[str, Finding]:
    return {finding.fingerprint: finding for finding in session.scalars(changeable(query))}


def _new(session: Session, audit: Audit, candidate: Candidate, moment: datetime) -> Finding:
    finding = Finding(
        org_id=audit.org_id,
        audit_id=audit.id,
        fingerprint=candidate.fingerprint,
        signal=candidate.signal,
        status="open",
        occurrences=1,
        first_seen_at=candidate.first_seen_at,
        created_at=moment,
    )
    session.add(finding)
    return finding


def _describe(
    finding: Finding, audit: Audit, candidate: Candidate, urgency: float, moment: datetime
) -> None:
    """Updates a finding to the newest run; keeps the time when it was first seen."""
    for name, text in _texts(candidate).items():
        setattr(finding, name, None if text is None else storable(text))
    finding.kind = candidate.kind
    finding.severity = candidate.severity
    finding.magnitude = candidate.magnitude
    finding.priority = urgency
    finding.last_seen_at = candidate.last_seen_at
    finding.evidence = {
        "session_ids": list(candidate.session_ids),
        "event_ids": list(candidate.event_ids),
        "numbers": dict(candidate.numbers),
    }
    finding.evidence_queries = [
        {"title": storable(query.title), "sql": query.sql} for query in candidate.queries
    ]
    finding.scope = {
        name: list(candidate.scope.get(name, audit.scope.get(name, ()))) for name in SCOPES
    }
    finding.updated_at = moment


def _texts(candidate: Candidate) -> dict[str, str | None]:
    return {
        "title": candidate.title,
        "category": candidate.category,
        "failure_type": candidate.failure_type,
        "description": candidate.description,
        "root_cause_hypothesis": candidate.root_cause_hypothesis,
        "recommendation": candidate.recommendation,
        "expected_impact": candidate.expected_impact,
        "effort": candidate.effort,
    }
