"""Exports that repeat: their schedules and their files."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Adds both tables."""
    op.create_table(
        "export_schedules",
        _organization(),
        sa.Column("every", sa.Text, nullable=False),
        sa.Column("since", _MOMENT, nullable=False),
        sa.Column("next_look_at", _MOMENT, nullable=False),
        sa.Column("full_look_at", _MOMENT, nullable=False),
        sa.Column("looked_at", _MOMENT),
        sa.Column("error", sa.Text),
        sa.Column("lease_token", sa.Uuid),
        sa.Column("lease_expires_at", _MOMENT),
        sa.CheckConstraint("every IN ('hourly', 'daily')", name="every"),
    )
    op.create_index("ix_export_schedules_due", "export_schedules", ["next_look_at"])
    op.create_table(
        "export_files",
        _organization(),
        sa.Column("rows", sa.Text, primary_key=True),
        sa.Column("every", sa.Text, primary_key=True),
        sa.Column("starts_at", _MOMENT, primary_key=True),
        sa.Column("ends_at", _MOMENT, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("fingerprint", sa.Text, nullable=False, server_default=""),
        sa.Column("row_count", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("bytes", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("writes", sa.Integer, nullable=False, server_default="0"),
        sa.Column("written_at", _MOMENT),
        sa.CheckConstraint("rows IN ('events', 'sessions', 'evaluations')", name="rows"),
        sa.CheckConstraint("every IN ('hourly', 'daily')", name="every"),
    )
    op.create_index("ix_export_files_newest", "export_files", ["org_id", "starts_at"])


def downgrade() -> None:
    """Removes both tables."""
    op.drop_table("export_files")
    op.drop_table("export_schedules")


def _organization() -> sa.Column[Any]:
    return sa.Column(
        "org_id",
        sa.Uuid,
        sa.ForeignKey("organizations.id", ondelete="CASCADE"),
        primary_key=True,
    )
