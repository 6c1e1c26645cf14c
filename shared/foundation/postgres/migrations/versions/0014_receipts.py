"""Receipts: what arrived from which sender, by the hour."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds both tables."""
    op.create_table(
        "receipts",
        _organization(),
        sa.Column("bucket_start", sa.DateTime(timezone=True), primary_key=True),
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("key_id", sa.Text, primary_key=True),
        sa.Column("sender", sa.Text, primary_key=True),
        sa.Column("machine_id", sa.Text, primary_key=True),
        sa.Column("service", sa.Text, primary_key=True),
        sa.Column("first_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tally", JSONB, nullable=False),
    )
    op.create_index("ix_receipts_bucket_start", "receipts", ["bucket_start"])
    op.create_table("receipt_flushes", _organization(), sa.Column("batch", sa.Text, nullable=False))


def downgrade() -> None:
    """Removes both tables."""
    op.drop_table("receipt_flushes")
    op.drop_table("receipts")


def _organization() -> sa.Column[Any]:
    return sa.Column(
        "org_id", sa.Uuid, sa.ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True
    )
