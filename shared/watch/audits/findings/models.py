"""Findings of audits, the runs that found them, and the suppressed patterns."""

import uuid
from datetime import datetime

from sqlalchemy import (
    JSON,
    CheckConstraint,
    ForeignKey,
    Index,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.core.ids import new_id
from shared.foundation.postgres import Base, created_at_column, same_org, timestamp_type
from shared.watch.audits.findings.evidence import FoundEvidence


class Finding(Base):
    """A pattern that an audit found, one row however often it is found.

    A resolved finding stays unchanged: the same pattern then becomes a new finding. `priority` is
    the value of the formula; `acknowledged_at` lowers the place in the list.
    """

    __tablename__ = "findings"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    org_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    audit_id: Mapped[uuid.UUID]
    fingerprint: Mapped[str]
    signal: Mapped[str]
    title: Mapped[str]
    category: Mapped[str]
    failure_type: Mapped[str]
    kind: Mapped[str]
    severity: Mapped[str]
    magnitude: Mapped[str]
    priority: Mapped[float]
    status: Mapped[str] = mapped_column(server_default=text("'open'"))
    occurrences: Mapped[int] = mapped_column(server_default=text("1"))
    first_seen_at: Mapped[datetime] = mapped_column(timestamp_type)
    last_seen_at: Mapped[datetime] = mapped_column(timestamp_type)
    description: Mapped[str]
    root_cause_hypothesis: Mapped[str | None]
    recommendation: Mapped[str | None]
    expected_impact: Mapped[str | None]
    effort: Mapped[str | None]
    evidence: Mapped[FoundEvidence] = mapped_column(JSON)
    evidence_queries: Mapped[list[dict[str, str]]] = mapped_column(JSON)
    scope: Mapped[dict[str, list[str]]] = mapped_column(JSON)
    assigned_to: Mapped[str | None]
    issue_id: Mapped[str | None]
    acknowledged_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    created_at: Mapped[datetime] = created_at_column()
    updated_at: Mapped[datetime] = created_at_column()

    __table_args__ = (
        CheckConstraint("kind IN ('failure', 'improvement', 'policy')", name="kind"),
        CheckConstraint("severity IN ('info', 'warning', 'critical')", name="severity"),
        CheckConstraint("magnitude IN ('small', 'medium', 'big')", name="magnitude"),
        CheckConstraint(
            "status IN ('open', 'recurring', 'resolved', 'dismissed', 'muted')", name="status"
        ),
        # Rows that refer to a finding do so within its organization.
        UniqueConstraint("org_id", "id", name="uq_findings_id"),
        same_org("audit_id", "audits", name="fk_findings_audit"),
        Index(
            "uq_findings_fingerprint",
            "audit_id",
            "fingerprint",
            unique=True,
            postgresql_where=text("status <> 'resolved'"),
        ),
        Index("ix_findings_fingerprint", "org_id", "fingerprint"),
        Index("ix_findings_of_audit", "org_id", "audit_id"),
    )


class FindingSighting(Base):
    """The fact that a run found a pattern.

    One row per run and finding, so that a run counts once.
    """

    __tablename__ = "finding_sightings"

    org_id: Mapped[uuid.UUID] = mapped_column(
        ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True
    )
    run_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    finding_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)

    __table_args__ = (
        same_org("run_id", "audit_runs", name="fk_finding_sightings_run"),
        same_org("finding_id", "findings", name="fk_finding_sightings_finding"),
        Index("ix_finding_sightings_finding", "org_id", "finding_id"),
    )


class Suppression(Base):
    """A fingerprint that no audit of the organization files any more; `action`: mute, dismiss."""

    __tablename__ = "finding_suppressions"

    org_id: Mapped[uuid.UUID] = mapped_column(
        ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True
    )
    fingerprint: Mapped[str] = mapped_column(primary_key=True)
    action: Mapped[str]
    reason: Mapped[str | None]
    created_by: Mapped[str]
    created_at: Mapped[datetime] = created_at_column()

    __table_args__ = (CheckConstraint("action IN ('mute', 'dismiss')", name="action"),)


class FindingAction(Base):
    """A decision of a person about a finding, with the reason."""

    __tablename__ = "finding_actions"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    org_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    finding_id: Mapped[uuid.UUID]
    action: Mapped[str]
    reason: Mapped[str | None]
    actor: Mapped[str]
    at: Mapped[datetime] = created_at_column()

    __table_args__ = (
        same_org("finding_id", "findings", name="fk_finding_actions_finding"),
        Index("ix_finding_actions_finding", "org_id", "finding_id", "at"),
    )
