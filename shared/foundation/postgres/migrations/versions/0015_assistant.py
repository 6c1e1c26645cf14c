"""Turns of the assistant."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_ACTIVE = sa.text("state IN ('queued', 'running')")


def upgrade() -> None:
    """Adds the table."""
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "assistant_turns",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column(
            "org_id",
            sa.Uuid,
            sa.ForeignKey("organizations.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column(
            "user_id", sa.Uuid, sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("request", sa.LargeBinary),
        sa.Column("state", sa.Text, nullable=False, server_default="queued"),
        sa.Column("tool_calls", sa.Integer, nullable=False, server_default="0"),
        sa.Column("input_tokens", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("output_tokens", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("created_at", moment, nullable=False, server_default=sa.func.clock_timestamp()),
        sa.Column("finished_at", moment),
        sa.Column("lease_token", sa.Uuid),
        sa.Column("lease_expires_at", moment),
        sa.CheckConstraint(
            "state IN ('queued', 'running', 'done', 'failed', 'cancelled')", name="state"
        ),
    )
    op.create_index(
        "ix_assistant_turns_active", "assistant_turns", ["created_at"], postgresql_where=_ACTIVE
    )
    op.create_index(
        "ix_assistant_turns_of_organization", "assistant_turns", ["org_id", "created_at"]
    )


def downgrade() -> None:
    """Removes the table."""
    op.drop_table("assistant_turns")
