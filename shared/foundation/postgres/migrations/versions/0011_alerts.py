"""Alert rules, the incidents they open, and the notifications about them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_NOW = sa.func.clock_timestamp()
_TEXTS = postgresql.ARRAY(sa.Text)


def upgrade() -> None:
    """Adds the seven tables."""
    _alerts()
    _alert_states()
    _incidents()
    _incident_comments()
    _incident_subscribers()
    _incident_activity()
    _notifications()


def downgrade() -> None:
    """Removes the tables."""
    for table in (
        "notifications",
        "incident_activity",
        "incident_subscribers",
        "incident_comments",
        "incidents",
        "alert_states",
        "alerts",
    ):
        op.drop_table(table)


def _alerts() -> None:
    op.create_table(
        "alerts",
        sa.Column("id", sa.Uuid, nullable=False),
        _organization(),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("description", sa.Text),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("trigger_kind", sa.Text, nullable=False),
        sa.Column("trigger_spec", sa.JSON, nullable=False),
        sa.Column("severity", sa.Text, nullable=False),
        sa.Column("min_breaches", sa.Integer, nullable=False),
        sa.Column("eval_window", sa.Integer, nullable=False),
        sa.Column("eval_interval_secs", sa.Integer, nullable=False),
        sa.Column("channels", sa.JSON, nullable=False),
        sa.Column("revision", sa.Integer, server_default=sa.text("1"), nullable=False),
        sa.Column("created_by", sa.Text, nullable=False),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("updated_at", _TIME, server_default=_NOW, nullable=False),
        sa.CheckConstraint("severity IN ('info', 'warning', 'critical')", name="severity"),
        sa.PrimaryKeyConstraint("id", name="pk_alerts"),
        sa.UniqueConstraint("org_id", "id", name="uq_alerts_id"),
    )
    op.create_index("ix_alerts_newest", "alerts", ["org_id", "created_at"])


def _alert_states() -> None:
    op.create_table(
        "alert_states",
        sa.Column("alert_id", sa.Uuid, nullable=False),
        _organization(),
        sa.Column("is_sql", sa.Boolean, server_default=sa.text("false"), nullable=False),
        sa.Column("due_at", _TIME),
        sa.Column("last_due_at", _TIME),
        sa.Column("last_attempted_at", _TIME),
        sa.Column("last_error", sa.Text),
        sa.Column("evaluated_to", _TIME),
        sa.Column(
            "recent", postgresql.ARRAY(sa.Boolean), server_default=sa.text("'{}'"), nullable=False
        ),
        sa.Column("clean", sa.Integer, server_default=sa.text("0"), nullable=False),
        sa.Column("lease_token", sa.Uuid),
        sa.Column("lease_expires_at", _TIME),
        sa.ForeignKeyConstraint(
            ["org_id", "alert_id"],
            ["alerts.org_id", "alerts.id"],
            name="fk_alert_states_alert",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("alert_id", name="pk_alert_states"),
    )
    op.create_index(
        "ix_alert_states_due",
        "alert_states",
        ["is_sql", "org_id", "due_at"],
        postgresql_where=sa.text("due_at IS NOT NULL"),
    )


def _incidents() -> None:
    op.create_table(
        "incidents",
        sa.Column("id", sa.Uuid, nullable=False),
        _organization(),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("source_finding_id", sa.Uuid),
        sa.Column("alert_id", sa.Uuid),
        sa.Column("alert_name", sa.Text),
        sa.Column("alert_severity", sa.Text, nullable=False),
        sa.Column("trigger_kind", sa.Text),
        sa.Column("origin", sa.JSON),
        sa.Column("channels", sa.JSON, nullable=False),
        sa.Column("state", sa.Text, server_default=sa.text("'firing'"), nullable=False),
        sa.Column("opened_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("last_breach_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("acknowledged_at", _TIME),
        sa.Column("acknowledged_by", sa.Text),
        sa.Column("assignees", _TEXTS, server_default=sa.text("'{}'"), nullable=False),
        sa.Column("resolved_at", _TIME),
        sa.Column("resolved_by", sa.Text),
        sa.Column("breach_value", sa.Double()),
        sa.Column("breach_summary", sa.Text),
        sa.Column("evidence", sa.JSON),
        sa.CheckConstraint("alert_severity IN ('info', 'warning', 'critical')", name="severity"),
        sa.CheckConstraint("source IN ('alert', 'manual', 'audit')", name="source"),
        sa.CheckConstraint("state IN ('firing', 'acknowledged', 'resolved')", name="state"),
        sa.ForeignKeyConstraint(
            ["org_id", "alert_id"],
            ["alerts.org_id", "alerts.id"],
            name="fk_incidents_alert",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["source_finding_id"],
            ["findings.id"],
            name="fk_incidents_source_finding_id",
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_incidents"),
        sa.UniqueConstraint("org_id", "id", name="uq_incidents_id"),
    )
    op.create_index("ix_incidents_newest", "incidents", ["org_id", "opened_at"])
    op.create_index("ix_incidents_of_alert", "incidents", ["org_id", "alert_id"])
    op.create_index("ix_incidents_of_finding", "incidents", ["source_finding_id"])
    op.create_index(
        "ix_incidents_open",
        "incidents",
        ["org_id", "opened_at"],
        postgresql_where=sa.text("state <> 'resolved'"),
    )
    op.create_index(
        "uq_incidents_open_of_alert",
        "incidents",
        ["alert_id"],
        unique=True,
        postgresql_where=sa.text("state <> 'resolved'"),
    )
    op.create_index(
        "uq_incidents_open_of_finding",
        "incidents",
        ["source_finding_id"],
        unique=True,
        postgresql_where=sa.text("state <> 'resolved'"),
    )


def _incident_comments() -> None:
    op.create_table(
        "incident_comments",
        sa.Column("id", sa.Uuid, nullable=False),
        _organization(),
        sa.Column("incident_id", sa.Uuid, nullable=False),
        sa.Column("author_id", sa.Uuid, nullable=False),
        sa.Column("author_email", sa.Text, nullable=False),
        sa.Column("body", sa.Text),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("edited_at", _TIME),
        sa.Column("deleted_at", _TIME),
        sa.ForeignKeyConstraint(
            ["org_id", "incident_id"],
            ["incidents.org_id", "incidents.id"],
            name="fk_incident_comments_incident",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_incident_comments"),
    )
    op.create_index(
        "ix_incident_comments_incident",
        "incident_comments",
        ["org_id", "incident_id", "created_at"],
    )


def _incident_subscribers() -> None:
    op.create_table(
        "incident_subscribers",
        _organization(),
        sa.Column("incident_id", sa.Uuid, nullable=False),
        sa.Column("email", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("subscribed_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("unsubscribed_at", _TIME),
        sa.ForeignKeyConstraint(
            ["org_id", "incident_id"],
            ["incidents.org_id", "incidents.id"],
            name="fk_incident_subscribers_incident",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("org_id", "incident_id", "email", name="pk_incident_subscribers"),
    )


def _incident_activity() -> None:
    op.create_table(
        "incident_activity",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        _organization(),
        sa.Column("incident_id", sa.Uuid, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("detail", sa.JSON, nullable=False),
        sa.ForeignKeyConstraint(
            ["org_id", "incident_id"],
            ["incidents.org_id", "incidents.id"],
            name="fk_incident_activity_incident",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_incident_activity"),
    )
    op.create_index(
        "ix_incident_activity_incident", "incident_activity", ["org_id", "incident_id", "id"]
    )


def _notifications() -> None:
    op.create_table(
        "notifications",
        sa.Column("id", sa.Uuid, nullable=False),
        _organization(),
        sa.Column("incident_id", sa.Uuid),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("content", sa.JSON, nullable=False),
        sa.Column("url_setting_key", sa.Text),
        sa.Column("secret_setting_key", sa.Text),
        sa.Column("mail_id", sa.Uuid),
        sa.Column("status", sa.Text, server_default=sa.text("'queued'"), nullable=False),
        sa.Column("attempts", sa.Integer, server_default=sa.text("0"), nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("next_attempt_at", _TIME),
        sa.Column("expires_at", _TIME),
        sa.Column("lease_token", sa.Uuid),
        sa.Column("lease_expires_at", _TIME),
        sa.Column("finished_at", _TIME),
        sa.CheckConstraint("channel IN ('email', 'slack', 'webhook', 'dashboard')", name="channel"),
        sa.CheckConstraint(
            "event IN ('alert.firing', 'alert.resolved', 'alert.test')",
            name="event",
        ),
        sa.CheckConstraint("status IN ('queued', 'sent', 'failed', 'skipped')", name="status"),
        sa.ForeignKeyConstraint(
            ["mail_id"], ["mails.id"], name="fk_notifications_mail_id", ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["org_id", "incident_id"],
            ["incidents.org_id", "incidents.id"],
            name="fk_notifications_incident",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_notifications"),
    )
    op.create_index(
        "ix_notifications_due",
        "notifications",
        ["org_id", "url_setting_key", "next_attempt_at"],
        postgresql_where=sa.text("status = 'queued' AND url_setting_key IS NOT NULL"),
    )
    op.create_index(
        "ix_notifications_leased",
        "notifications",
        ["lease_expires_at"],
        postgresql_where=sa.text("lease_expires_at IS NOT NULL"),
    )
    op.create_index(
        "ix_notifications_of_tests",
        "notifications",
        ["created_at"],
        postgresql_where=sa.text("incident_id IS NULL"),
    )
    op.create_index(
        "ix_notifications_incident", "notifications", ["org_id", "incident_id", "created_at"]
    )
    op.create_index("ix_notifications_mail_id", "notifications", ["mail_id"])
    op.create_index(
        "ix_notifications_mails_waiting",
        "notifications",
        ["org_id"],
        postgresql_where=sa.text("status = 'queued' AND mail_id IS NOT NULL"),
    )


def _organization() -> sa.Column[object]:
    return sa.Column(
        "org_id", sa.Uuid, sa.ForeignKey("organizations.id", ondelete="CASCADE"), nullable=False
    )
