"""Deletions of sessions, and the sessions that were deleted."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0018"
down_revision = "0016"
branch_labels = None
depends_on = None

_LIVE = sa.text("state IN ('queued', 'running', 'hidden', 'rewritten')")
_MOMENT = sa.DateTime(timezone=True)
_NOW = sa.func.clock_timestamp()


def upgrade() -> None:
    """Adds both tables."""
    op.create_table(
        "deletions",
        sa.Column("id", sa.Uuid, primary_key=True),
        _organization(nullable=False),
        sa.Column("state", sa.Text, nullable=False, server_default="queued"),
        sa.Column("field", sa.Text),
        sa.Column("value", sa.Text),
        sa.Column("value_hash", sa.Text),
        sa.Column("session_ids", JSONB),
        sa.Column("sessions", sa.Integer, nullable=False, server_default="0"),
        sa.Column("removed", JSONB, nullable=False, server_default="{}"),
        sa.Column("remaining", JSONB, nullable=False, server_default="{}"),
        sa.Column("created_by", sa.Text, nullable=False),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("fenced_at", _MOMENT),
        sa.Column("hidden_at", _MOMENT),
        sa.Column("rewritten_at", _MOMENT),
        sa.Column("finished_at", _MOMENT),
        sa.Column("created_at", _MOMENT, nullable=False, server_default=_NOW),
        sa.Column("updated_at", _MOMENT, nullable=False, server_default=_NOW),
        sa.Column("lease_token", sa.Uuid),
        sa.Column("lease_expires_at", _MOMENT),
        sa.CheckConstraint(
            "state IN ('queued', 'running', 'hidden', 'rewritten', 'done', 'failed')", name="state"
        ),
    )
    op.create_index("ix_deletions_newest", "deletions", ["org_id", "created_at"])
    op.create_index("ix_deletions_live", "deletions", ["created_at"], postgresql_where=_LIVE)
    op.create_table(
        "deleted_sessions",
        _organization(primary_key=True),
        sa.Column("session_hash", sa.LargeBinary, primary_key=True),
        sa.Column("deletion_id", sa.Uuid, nullable=False),
        sa.Column("dropped", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("created_at", _MOMENT, nullable=False, server_default=_NOW),
    )
    op.create_index(
        "ix_deleted_sessions_of_deletion", "deleted_sessions", ["org_id", "deletion_id"]
    )


def downgrade() -> None:
    """Removes both tables."""
    op.drop_table("deleted_sessions")
    op.drop_table("deletions")


def _organization(**details: Any) -> sa.Column[Any]:
    return sa.Column(
        "org_id", sa.Uuid, sa.ForeignKey("organizations.id", ondelete="CASCADE"), **details
    )
