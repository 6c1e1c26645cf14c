"""Settings and model context windows of an organization."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_NOW = sa.func.clock_timestamp()


def upgrade() -> None:
    """Adds both tables."""
    op.create_table(
        "organization_settings",
        _organization(),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("value", postgresql.JSONB, nullable=False),
        sa.Column("updated_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("updated_by", sa.Text, nullable=False),
    )
    op.create_table(
        "model_context_windows",
        _organization(),
        sa.Column("model_id", sa.Text, primary_key=True),
        sa.Column("context_window", sa.Integer, nullable=False),
        sa.Column("updated_at", _TIME, server_default=_NOW, nullable=False),
    )


def downgrade() -> None:
    """Removes the tables."""
    op.drop_table("model_context_windows")
    op.drop_table("organization_settings")


def _organization() -> sa.Column[object]:
    return sa.Column(
        "org_id", sa.Uuid, sa.ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True
    )
