"""Custom permission sets; the built-in ones are code."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_NOW = sa.func.clock_timestamp()


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "permission_sets",
        sa.Column(
            "org_id",
            sa.Uuid,
            sa.ForeignKey("organizations.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("description", sa.Text, server_default="", nullable=False),
        sa.Column("permissions", postgresql.ARRAY(sa.Text), nullable=False),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("updated_at", _TIME, server_default=_NOW, nullable=False),
    )


def downgrade() -> None:
    """Removes the table; members keep the name of a set that no longer exists."""
    op.drop_table("permission_sets")
