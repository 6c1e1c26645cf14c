"""Evaluation jobs, and the sessions that are watched for their end."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Adds the four tables."""
    _watched_sessions()
    _evaluation_jobs()
    op.create_table(
        "evaluator_turns",
        _organization(primary_key=True),
        sa.Column("last_turn_at", _TIME, nullable=False),
    )
    op.create_table(
        "evaluator_config",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("endpoint", sa.Text, nullable=False),
        sa.Column("inactivity_timeout_secs", sa.Double),
        sa.Column("default_poll_interval_secs", sa.Double),
        sa.Column("refreshed_at", _TIME, nullable=False),
        sa.Column("next_refresh_at", _TIME, nullable=False),
        sa.CheckConstraint("id = 1", name="single_row"),
    )


def downgrade() -> None:
    """Removes the tables."""
    for table in ("evaluator_config", "evaluator_turns", "evaluation_jobs", "watched_sessions"):
        op.drop_table(table)


def _organization(*, primary_key: bool = False) -> sa.Column[object]:
    return sa.Column(
        "org_id",
        sa.Uuid,
        sa.ForeignKey("organizations.id", ondelete="CASCADE"),
        primary_key=primary_key,
        nullable=False,
    )


def _watched_sessions() -> None:
    op.create_table(
        "watched_sessions",
        _organization(primary_key=True),
        sa.Column("session_id", sa.Text, primary_key=True),
        sa.Column("last_arrival_at", _TIME, nullable=False),
        sa.Column("end_seen", sa.Boolean, nullable=False),
        sa.Column("waiting_since", _TIME),
        sa.Column("check_at", _TIME),
        sa.Column("evaluated", sa.Boolean, server_default=sa.text("false"), nullable=False),
    )
    op.create_index(
        "ix_watched_sessions_check_at",
        "watched_sessions",
        ["check_at"],
        postgresql_where=sa.text("check_at IS NOT NULL"),
    )
    op.create_index(
        "ix_watched_sessions_last_arrival_at",
        "watched_sessions",
        ["last_arrival_at"],
        postgresql_where=sa.text("NOT evaluated"),
    )


def _evaluation_jobs() -> None:
    op.create_table(
        "evaluation_jobs",
        sa.Column("id", sa.Uuid, primary_key=True),
        _organization(),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("agent_id", sa.Text, nullable=False),
        sa.Column("environment", sa.Text, nullable=False),
        sa.Column("status", sa.Text, server_default="pending", nullable=False),
        sa.Column("trigger", sa.Text, nullable=False),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("attempt_count", sa.Integer, server_default=sa.text("0"), nullable=False),
        sa.Column("evaluator_job_id", sa.Text),
        sa.Column("last_error", sa.Text),
        sa.Column("enqueued_at", _TIME, nullable=False),
        sa.Column("next_attempt_at", _TIME, nullable=False),
        sa.Column("started_at", _TIME),
        sa.Column("poll_deadline_at", _TIME),
        sa.Column("completed_at", _TIME),
        sa.Column("lease_token", sa.Uuid),
        sa.Column("lease_expires_at", _TIME),
        sa.Column("result", sa.LargeBinary),
        sa.CheckConstraint(
            "status IN ('pending', 'polling', 'storing', 'done', 'error', 'timeout')",
            name="status",
        ),
        sa.CheckConstraint("trigger IN ('agent_end', 'inactivity', 'manual')", name="trigger"),
    )
    _index("uq_evaluation_jobs_live", "status IN ('pending', 'polling', 'storing')", unique=True)
    _index("uq_evaluation_jobs_automatic", "trigger <> 'manual'", unique=True)
    _index("ix_evaluation_jobs_session", None)
    _index(
        "ix_evaluation_jobs_due",
        "status IN ('pending', 'polling')",
        columns=("org_id", "next_attempt_at"),
    )
    _index(
        "ix_evaluation_jobs_leases",
        "lease_expires_at IS NOT NULL",
        columns=("lease_expires_at",),
    )
    _index("ix_evaluation_jobs_storing", "status = 'storing'", columns=("completed_at",))


def _index(
    name: str,
    where: str | None,
    *,
    columns: tuple[str, ...] = ("org_id", "session_id"),
    unique: bool = False,
) -> None:
    op.create_index(
        name,
        "evaluation_jobs",
        list(columns),
        unique=unique,
        postgresql_where=None if where is None else sa.text(where),
    )
