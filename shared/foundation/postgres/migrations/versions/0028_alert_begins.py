"""The moment at which the windows of a rule begin."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the column."""
    op.add_column("alert_states", sa.Column("begins_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    """Removes the column."""
    op.drop_column("alert_states", "begins_at")
