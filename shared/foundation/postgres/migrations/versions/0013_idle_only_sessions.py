"""Sessions that are evaluated only when they are idle."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the column; the sessions that are watched already keep their ways."""
    op.add_column(
        "watched_sessions",
        sa.Column("idle_only", sa.Boolean, server_default=sa.text("false"), nullable=False),
    )
    op.create_index(
        "ix_watched_sessions_idle_only",
        "watched_sessions",
        ["last_arrival_at"],
        postgresql_where=sa.text("idle_only AND NOT evaluated"),
    )


def downgrade() -> None:
    """Removes the column."""
    op.drop_index("ix_watched_sessions_idle_only", "watched_sessions")
    op.drop_column("watched_sessions", "idle_only")
