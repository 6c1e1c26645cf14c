"""Prices that an organization set itself."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the table."""
    moment = sa.DateTime(timezone=True)
    now = sa.func.clock_timestamp()
    organization = sa.ForeignKey("organizations.id", ondelete="CASCADE")
    op.create_table(
        "prices",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("org_id", sa.Uuid, organization, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("provider", sa.Text),
        sa.Column("valid_from", moment),
        sa.Column("terms", sa.JSON, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("created_by", sa.Text),
        sa.Column("created_at", moment, server_default=now, nullable=False),
        sa.Column("updated_at", moment, server_default=now, nullable=False),
    )
    # Names count in any case, and an absent value is one. It also finds an organization's prices.
    op.create_index(
        "uq_prices_key",
        "prices",
        [
            "org_id",
            sa.text("lower(model)"),
            sa.text("coalesce(lower(provider), '')"),
            sa.text("coalesce(valid_from, '-infinity')"),
        ],
        unique=True,
    )


def downgrade() -> None:
    """Removes the table."""
    op.drop_table("prices")
