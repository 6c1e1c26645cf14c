"""The outbox: mails that are to be sent, were sent, or failed."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_NOW = sa.func.clock_timestamp()


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "mails",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column(
            "org_id", sa.Uuid, sa.ForeignKey("organizations.id", ondelete="CASCADE"), index=True
        ),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("recipient", sa.Text, nullable=False),
        sa.Column("context", postgresql.JSONB, server_default="{}", nullable=False),
        sa.Column("status", sa.Text, server_default="queued", nullable=False),
        sa.Column("attempts", sa.Integer, server_default="0", nullable=False),
        sa.Column("next_attempt_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("expires_at", _TIME, nullable=False),
        sa.Column("last_error", sa.Text),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("finished_at", _TIME),
        sa.CheckConstraint("status IN ('queued', 'sent', 'failed')", name="status"),
    )
    op.create_index(
        "ix_mails_due", "mails", ["next_attempt_at"], postgresql_where=sa.text("status = 'queued'")
    )


def downgrade() -> None:
    """Removes the table, with the mails that were not sent."""
    op.drop_table("mails")
