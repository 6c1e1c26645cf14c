"""People's private conversations with the assistant."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_NOW = sa.func.clock_timestamp()


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "conversations",
        sa.Column("id", sa.Uuid, primary_key=True),
        _reference("org_id", "organizations.id"),
        _reference("user_id", "users.id"),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("messages", sa.LargeBinary, nullable=False),
        sa.Column("message_count", sa.Integer, server_default="0", nullable=False),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("updated_at", _TIME, server_default=_NOW, nullable=False),
    )
    op.create_index(
        "ix_conversations_of_user", "conversations", ["org_id", "user_id", "created_at"]
    )


def downgrade() -> None:
    """Removes the table."""
    op.drop_table("conversations")


def _reference(name: str, target: str) -> sa.Column[object]:
    return sa.Column(name, sa.Uuid, sa.ForeignKey(target, ondelete="CASCADE"), nullable=False)
