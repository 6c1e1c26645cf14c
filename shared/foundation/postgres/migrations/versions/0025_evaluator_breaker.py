"""The breaker of the evaluator."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "evaluator_breaker",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("endpoint", sa.Text, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False, server_default="0"),
        sa.Column("since", _MOMENT),
        sa.Column("last_error", sa.Text),
        sa.Column("wait_secs", sa.Float, nullable=False, server_default="0"),
        sa.Column("retry_at", _MOMENT),
        sa.Column("probe_id", sa.Uuid),
        sa.CheckConstraint("id = 1", name="single_row"),
    )


def downgrade() -> None:
    """Removes the table."""
    op.drop_table("evaluator_breaker")
