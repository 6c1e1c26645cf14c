"""The time until which a rule of SQL opens no incident for what it knew before a resolution."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the column."""
    op.add_column("alert_states", sa.Column("held_until", sa.DateTime(timezone=True)))


def downgrade() -> None:
    """Removes the column."""
    op.drop_column("alert_states", "held_until")
