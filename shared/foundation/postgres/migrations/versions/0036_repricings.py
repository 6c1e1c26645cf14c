"""Repricings of stored calls."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

_LIVE = sa.text("state IN ('queued', 'running')")
_MOMENT = sa.DateTime(timezone=True)
_NOW = sa.func.clock_timestamp()


def upgrade() -> None:
    """Adds the table."""
    organization = sa.ForeignKey("organizations.id", ondelete="CASCADE")
    op.create_table(
        "repricings",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("org_id", sa.Uuid, organization, nullable=False),
        sa.Column("state", sa.Text, nullable=False, server_default="queued"),
        sa.Column("dry_run", sa.Boolean, nullable=False),
        sa.Column("starts_at", _MOMENT, nullable=False),
        sa.Column("ends_at", _MOMENT, nullable=False),
        sa.Column("model", sa.Text),
        sa.Column("agent_id", sa.Text),
        sa.Column("environment", sa.Text),
        sa.Column("requested_by", sa.Text, nullable=False),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("is_cancelled", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("prices", JSONB),
        sa.Column("figures", JSONB, nullable=False, server_default="{}"),
        sa.Column("counted", JSONB),
        sa.Column("written", JSONB),
        sa.Column("error", sa.Text),
        sa.Column("started_at", _MOMENT),
        sa.Column("finished_at", _MOMENT),
        sa.Column("created_at", _MOMENT, nullable=False, server_default=_NOW),
        sa.Column("updated_at", _MOMENT, nullable=False, server_default=_NOW),
        sa.Column("lease_token", sa.Uuid),
        sa.Column("lease_expires_at", _MOMENT),
        sa.CheckConstraint(
            "state IN ('queued', 'running', 'done', 'failed', 'cancelled')", name="state"
        ),
    )
    op.create_index("ix_repricings_newest", "repricings", ["org_id", "created_at"])
    op.create_index(
        "uq_repricings_live", "repricings", ["org_id"], unique=True, postgresql_where=_LIVE
    )


def downgrade() -> None:
    """Removes the table."""
    op.drop_table("repricings")
