"""Audits with their runs and findings."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_NOW = sa.func.clock_timestamp()
_TEXTS = postgresql.ARRAY(sa.Text)


def upgrade() -> None:
    """Adds the six tables."""
    _audits()
    _audit_runs()
    _findings()
    _finding_sightings()
    _finding_suppressions()
    _finding_actions()


def downgrade() -> None:
    """Removes the tables."""
    for table in (
        "finding_actions",
        "finding_suppressions",
        "finding_sightings",
        "findings",
        "audit_runs",
        "audits",
    ):
        op.drop_table(table)


def _audits() -> None:
    op.create_table(
        "audits",
        sa.Column("id", sa.Uuid, nullable=False),
        _organization(),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("description", sa.Text),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("schedule_interval_secs", sa.Integer, nullable=False),
        sa.Column("schedule_anchor", _TIME, nullable=False),
        sa.Column("window_mode", sa.Text, nullable=False),
        sa.Column("lookback_window_secs", sa.Integer, nullable=False),
        sa.Column("scope", sa.JSON, nullable=False),
        sa.Column("signals", _TEXTS, nullable=False),
        sa.Column("ignore_error_types", _TEXTS, nullable=False),
        sa.Column("sensitivity", sa.Text, nullable=False),
        sa.Column("top_k", sa.Integer, nullable=False),
        sa.Column("llm_enabled", sa.Boolean, nullable=False),
        sa.Column("channels", sa.JSON, nullable=False),
        sa.Column("context_text", sa.Text, server_default=sa.text("''"), nullable=False),
        sa.Column("context_urls", _TEXTS, server_default=sa.text("'{}'"), nullable=False),
        sa.Column("next_attempt_at", _TIME),
        sa.Column("last_attempted_at", _TIME),
        sa.Column("last_error", sa.Text),
        sa.Column("created_by", sa.Text, nullable=False),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("updated_at", _TIME, server_default=_NOW, nullable=False),
        sa.CheckConstraint("sensitivity IN ('low', 'medium', 'high')", name="sensitivity"),
        sa.CheckConstraint("window_mode IN ('since_last', 'fixed')", name="window_mode"),
        sa.PrimaryKeyConstraint("id", name="pk_audits"),
        sa.UniqueConstraint("org_id", "id", name="uq_audits_id"),
    )
    op.create_index(
        "ix_audits_due",
        "audits",
        ["next_attempt_at"],
        postgresql_where=sa.text("next_attempt_at IS NOT NULL"),
    )
    op.create_index("ix_audits_newest", "audits", ["org_id", "created_at"])


def _audit_runs() -> None:
    op.create_table(
        "audit_runs",
        sa.Column("id", sa.Uuid, nullable=False),
        _organization(),
        sa.Column("audit_id", sa.Uuid, nullable=False),
        sa.Column("status", sa.Text, server_default=sa.text("'queued'"), nullable=False),
        sa.Column("trigger_kind", sa.Text, nullable=False),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("queued_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("window_from", _TIME),
        sa.Column("window_to", _TIME),
        sa.Column("started_at", _TIME),
        sa.Column("filed_at", _TIME),
        sa.Column("finished_at", _TIME),
        sa.Column("stats", postgresql.JSONB, server_default=sa.text("'{}'"), nullable=False),
        sa.Column("findings_count", sa.Integer, server_default=sa.text("0"), nullable=False),
        sa.Column("new_findings_count", sa.Integer, server_default=sa.text("0"), nullable=False),
        sa.Column("report", sa.Text),
        sa.Column("error", sa.Text),
        sa.Column("attempts", sa.Integer, server_default=sa.text("0"), nullable=False),
        sa.Column("lease_token", sa.Uuid),
        sa.Column("lease_expires_at", _TIME),
        sa.CheckConstraint("status IN ('queued', 'running', 'succeeded', 'failed')", name="status"),
        sa.CheckConstraint("trigger_kind IN ('scheduled', 'manual')", name="trigger_kind"),
        sa.ForeignKeyConstraint(
            ["org_id", "audit_id"],
            ["audits.org_id", "audits.id"],
            name="fk_audit_runs_audit",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_audit_runs"),
        sa.UniqueConstraint("org_id", "id", name="uq_audit_runs_id"),
    )
    op.create_index(
        "ix_audit_runs_live",
        "audit_runs",
        ["queued_at"],
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    )
    op.create_index("ix_audit_runs_newest", "audit_runs", ["org_id", "started_at"])
    op.create_index("ix_audit_runs_of_audit", "audit_runs", ["org_id", "audit_id", "started_at"])
    op.create_index(
        "uq_audit_runs_live",
        "audit_runs",
        ["audit_id"],
        unique=True,
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    )


def _findings() -> None:
    op.create_table(
        "findings",
        sa.Column("id", sa.Uuid, nullable=False),
        _organization(),
        sa.Column("audit_id", sa.Uuid, nullable=False),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("signal", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("category", sa.Text, nullable=False),
        sa.Column("failure_type", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("severity", sa.Text, nullable=False),
        sa.Column("magnitude", sa.Text, nullable=False),
        sa.Column("priority", sa.Double(), nullable=False),
        sa.Column("status", sa.Text, server_default=sa.text("'open'"), nullable=False),
        sa.Column("occurrences", sa.Integer, server_default=sa.text("1"), nullable=False),
        sa.Column("first_seen_at", _TIME, nullable=False),
        sa.Column("last_seen_at", _TIME, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("root_cause_hypothesis", sa.Text),
        sa.Column("recommendation", sa.Text),
        sa.Column("expected_impact", sa.Text),
        sa.Column("effort", sa.Text),
        sa.Column("evidence", sa.JSON, nullable=False),
        sa.Column("evidence_queries", sa.JSON, nullable=False),
        sa.Column("scope", sa.JSON, nullable=False),
        sa.Column("assigned_to", sa.Text),
        sa.Column("issue_id", sa.Text),
        sa.Column("acknowledged_at", _TIME),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("updated_at", _TIME, server_default=_NOW, nullable=False),
        sa.CheckConstraint("kind IN ('failure', 'improvement', 'policy')", name="kind"),
        sa.CheckConstraint("magnitude IN ('small', 'medium', 'big')", name="magnitude"),
        sa.CheckConstraint("severity IN ('info', 'warning', 'critical')", name="severity"),
        sa.CheckConstraint(
            "status IN ('open', 'recurring', 'resolved', 'dismissed', 'muted')",
            name="status",
        ),
        sa.ForeignKeyConstraint(
            ["org_id", "audit_id"],
            ["audits.org_id", "audits.id"],
            name="fk_findings_audit",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_findings"),
        sa.UniqueConstraint("org_id", "id", name="uq_findings_id"),
    )
    op.create_index("ix_findings_fingerprint", "findings", ["org_id", "fingerprint"])
    op.create_index("ix_findings_of_audit", "findings", ["org_id", "audit_id"])
    op.create_index(
        "uq_findings_fingerprint",
        "findings",
        ["audit_id", "fingerprint"],
        unique=True,
        postgresql_where=sa.text("status <> 'resolved'"),
    )


def _finding_sightings() -> None:
    op.create_table(
        "finding_sightings",
        _organization(),
        sa.Column("run_id", sa.Uuid, nullable=False),
        sa.Column("finding_id", sa.Uuid, nullable=False),
        sa.ForeignKeyConstraint(
            ["org_id", "finding_id"],
            ["findings.org_id", "findings.id"],
            name="fk_finding_sightings_finding",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["org_id", "run_id"],
            ["audit_runs.org_id", "audit_runs.id"],
            name="fk_finding_sightings_run",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("org_id", "run_id", "finding_id", name="pk_finding_sightings"),
    )
    op.create_index("ix_finding_sightings_finding", "finding_sightings", ["org_id", "finding_id"])


def _finding_suppressions() -> None:
    op.create_table(
        "finding_suppressions",
        _organization(),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("created_by", sa.Text, nullable=False),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.CheckConstraint("action IN ('mute', 'dismiss')", name="action"),
        sa.PrimaryKeyConstraint("org_id", "fingerprint", name="pk_finding_suppressions"),
    )


def _finding_actions() -> None:
    op.create_table(
        "finding_actions",
        sa.Column("id", sa.Uuid, nullable=False),
        _organization(),
        sa.Column("finding_id", sa.Uuid, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("at", _TIME, server_default=_NOW, nullable=False),
        sa.ForeignKeyConstraint(
            ["org_id", "finding_id"],
            ["findings.org_id", "findings.id"],
            name="fk_finding_actions_finding",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_finding_actions"),
    )
    op.create_index("ix_finding_actions_finding", "finding_actions", ["org_id", "finding_id", "at"])


def _organization() -> sa.Column[object]:
    return sa.Column(
        "org_id", sa.Uuid, sa.ForeignKey("organizations.id", ondelete="CASCADE"), nullable=False
    )
