"""Audits and their runs."""

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    CheckConstraint,
    ForeignKey,
    Index,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.core.ids import new_id
from shared.foundation.postgres import Base, created_at_column, same_org, timestamp_type
from shared.foundation.postgres.leases import LeaseColumns


class Audit(Base):
    """A recurring audit as people define it; its runs begin at anchor + N x interval."""

    __tablename__ = "audits"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    org_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    name: Mapped[str]
    description: Mapped[str | None]
    enabled: Mapped[bool]
    schedule_interval_secs: Mapped[int]
    schedule_anchor: Mapped[datetime] = mapped_column(timestamp_type)
    window_mode: Mapped[str]
    lookback_window_secs: Mapped[int]
    scope: Mapped[dict[str, list[str]]] = mapped_column(JSON)
    signals: Mapped[list[str]] = mapped_column(ARRAY(Text))
    ignore_error_types: Mapped[list[str]] = mapped_column(ARRAY(Text))
    sensitivity: Mapped[str]
    top_k: Mapped[int]
    llm_enabled: Mapped[bool]
    channels: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    context_text: Mapped[str] = mapped_column(server_default=text("''"))
    context_urls: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'"))
    next_attempt_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    last_attempted_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    last_error: Mapped[str | None]
    created_by: Mapped[str]
    created_at: Mapped[datetime] = created_at_column()
    updated_at: Mapped[datetime] = created_at_column()

    __table_args__ = (
        CheckConstraint("window_mode IN ('since_last', 'fixed')", name="window_mode"),
        CheckConstraint("sensitivity IN ('low', 'medium', 'high')", name="sensitivity"),
        # Rows that refer to an audit do so within its organization.
        UniqueConstraint("org_id", "id", name="uq_audits_id"),
        Index("ix_audits_newest", "org_id", "created_at"),
        Index(
            "ix_audits_due", "next_attempt_at", postgresql_where=text("next_attempt_at IS NOT NULL")
        ),
    )


class AuditRun(LeaseColumns, Base):
    """One run, from the moment when it is queued.

    An audit has at most one that is queued or running.

    The API shows a run from its start on; of a queued run it shows only the id. A worker holds the
    run while `lease_token` is its own, and renews the lease meanwhile. `filed_at` is the time when
    its findings were filed; afterwards only the report is missing.
    """

    __tablename__ = "audit_runs"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    org_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    audit_id: Mapped[uuid.UUID]
    status: Mapped[str] = mapped_column(server_default=text("'queued'"))
    trigger_kind: Mapped[str]
    request_id: Mapped[str]
    queued_at: Mapped[datetime] = created_at_column()
    window_from: Mapped[datetime | None] = mapped_column(timestamp_type)
    window_to: Mapped[datetime | None] = mapped_column(timestamp_type)
    started_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    filed_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    finished_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    stats: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default=text("'{}'"))
    findings_count: Mapped[int] = mapped_column(server_default=text("0"))
    new_findings_count: Mapped[int] = mapped_column(server_default=text("0"))
    report: Mapped[str | None]
    error: Mapped[str | None]
    attempts: Mapped[int] = mapped_column(server_default=text("0"))

    __table_args__ = (
        CheckConstraint("status IN ('queued', 'running', 'succeeded', 'failed')", name="status"),
        CheckConstraint("trigger_kind IN ('scheduled', 'manual')", name="trigger_kind"),
        UniqueConstraint("org_id", "id", name="uq_audit_runs_id"),
        same_org("audit_id", "audits", name="fk_audit_runs_audit"),
        Index(
            "uq_audit_runs_live",
            "audit_id",
            unique=True,
            postgresql_where=text("status IN ('queued', 'running')"),
        ),
        Index("ix_audit_runs_of_audit", "org_id", "audit_id", "started_at"),
        Index("ix_audit_runs_newest", "org_id", "started_at"),
        Index(
            "ix_audit_runs_live",
            "queued_at",
            postgresql_where=text("status IN ('queued', 'running')"),
        ),
    )
