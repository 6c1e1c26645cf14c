"""Runs of organizations' own evaluators, their triggers, and a breaker for each evaluator.

The deployment's evaluator gets a row in the table of breakers too. The table with its only breaker
stays until no release uses it.
"""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)
_STATUS = "status IN ('pending', 'polling', 'storing', 'done', 'error', 'timeout')"
_TRIGGER = "trigger IN ('agent_end', 'inactivity', 'manual', 'backfill')"


def upgrade() -> None:
    """Adds the tables."""
    _session_triggers()
    _evaluator_runs()
    op.create_table(
        "run_turns",
        _referring("organizations", "org_id", primary_key=True),
        sa.Column("last_turn_at", _MOMENT, nullable=False),
    )
    op.create_table(
        "evaluator_months",
        _referring("evaluators", "evaluator_id", primary_key=True),
        sa.Column("month", sa.Date, primary_key=True),
        _referring("organizations", "org_id"),
        sa.Column("evaluations", sa.BigInteger, nullable=False, server_default=sa.text("0")),
        sa.Column("tokens", sa.BigInteger, nullable=False, server_default=sa.text("0")),
        sa.Column("usd", sa.Numeric(38, 12), nullable=False, server_default=sa.text("0")),
    )
    op.create_table(
        "evaluator_breakers",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("failures", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("since", _MOMENT),
        sa.Column("last_error", sa.Text),
        sa.Column("wait_secs", sa.Double, nullable=False, server_default=sa.text("0")),
        sa.Column("retry_at", _MOMENT),
        sa.Column("probe_id", sa.Uuid),
    )


def downgrade() -> None:
    """Removes them."""
    for table in (
        "evaluator_breakers",
        "evaluator_months",
        "run_turns",
        "evaluator_runs",
        "session_triggers",
    ):
        op.drop_table(table)


def _referring(table: str, column: str, *, primary_key: bool = False) -> sa.Column[object]:
    reference = sa.ForeignKey(f"{table}.id", ondelete="CASCADE")
    return sa.Column(column, sa.Uuid, reference, primary_key=primary_key, nullable=False)


def _session_triggers() -> None:
    op.create_table(
        "session_triggers",
        _referring("organizations", "org_id", primary_key=True),
        sa.Column("session_id", sa.Text, primary_key=True),
        sa.Column("last_arrival_at", _MOMENT, nullable=False),
        sa.Column("end_seen", sa.Boolean, nullable=False),
        sa.Column("waiting_since", _MOMENT),
        sa.Column("end_check_at", _MOMENT),
        sa.Column("idle_check_at", _MOMENT),
        sa.Column("idle_only", sa.Boolean, nullable=False, server_default=sa.text("false")),
    )
    for name in ("end_check_at", "idle_check_at"):
        op.create_index(
            f"ix_session_triggers_{name}",
            "session_triggers",
            [name],
            postgresql_where=sa.text(f"{name} IS NOT NULL"),
        )


def _evaluator_runs() -> None:
    op.create_table(
        "evaluator_runs",
        sa.Column("id", sa.Uuid, primary_key=True),
        _referring("organizations", "org_id"),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("agent_id", sa.Text, nullable=False),
        sa.Column("environment", sa.Text, nullable=False),
        sa.Column("status", sa.Text, server_default="pending", nullable=False),
        sa.Column("trigger", sa.Text, nullable=False),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("attempt_count", sa.Integer, server_default=sa.text("0"), nullable=False),
        sa.Column("evaluator_job_id", sa.Text),
        sa.Column("last_error", sa.Text),
        sa.Column("enqueued_at", _MOMENT, nullable=False),
        sa.Column("next_attempt_at", _MOMENT, nullable=False),
        sa.Column("started_at", _MOMENT),
        sa.Column("poll_deadline_at", _MOMENT),
        sa.Column("completed_at", _MOMENT),
        sa.Column("result", sa.LargeBinary),
        sa.Column("lease_token", sa.Uuid),
        sa.Column("lease_expires_at", _MOMENT),
        _referring("evaluators", "evaluator_id"),
        _referring("evaluator_versions", "version_id"),
        sa.Column("revision", sa.BigInteger, nullable=False),
        sa.Column("covered_events", sa.BigInteger, nullable=False),
        sa.Column("covered_until", _MOMENT, nullable=False),
        sa.Column("backfill_id", sa.Uuid),
        sa.Column("rank", sa.SmallInteger, nullable=False),
        sa.CheckConstraint(_STATUS, name="status"),
        sa.CheckConstraint(_TRIGGER, name="trigger"),
    )
    _index("uq", "live", "status IN ('pending', 'polling', 'storing')")
    automatic = ("evaluator_id", "session_id", "revision")
    _index("uq", "automatic", "trigger IN ('agent_end', 'inactivity')", automatic)
    _index("uq", "backfill", "backfill_id IS NOT NULL", ("backfill_id", "session_id"))
    _index("ix", "session", None, ("org_id", "session_id"))
    due = ("evaluator_id", "rank", "next_attempt_at")
    _index("ix", "due", "status IN ('pending', 'polling')", due)
    _index("ix", "leases", "lease_expires_at IS NOT NULL", ("lease_expires_at",))
    _index("ix", "storing", "status = 'storing'", ("completed_at",))


def _index(
    form: str,
    name: str,
    where: str | None,
    columns: tuple[str, ...] = ("evaluator_id", "session_id"),
) -> None:
    op.create_index(
        f"{form}_evaluator_runs_{name}",
        "evaluator_runs",
        list(columns),
        unique=form == "uq",
        postgresql_where=None if where is None else sa.text(where),
    )
