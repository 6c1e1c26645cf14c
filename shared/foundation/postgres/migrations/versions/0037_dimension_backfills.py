"""How far the dimensions of older events are filled."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Adds the table."""
    organization = sa.ForeignKey("organizations.id", ondelete="CASCADE")
    op.create_table(
        "dimension_backfills",
        sa.Column("org_id", sa.Uuid, organization, primary_key=True),
        sa.Column("starts_at", _MOMENT),
        sa.Column("ends_at", _MOMENT, nullable=False),
        sa.Column("place", JSONB),
        sa.Column("events", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("filled", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("filled_since", _MOMENT),
        sa.Column("filled_all", sa.Boolean, nullable=False, server_default=sa.false()),
    )


def downgrade() -> None:
    """Removes the table."""
    op.drop_table("dimension_backfills")
