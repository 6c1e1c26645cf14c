"""When each key was used last."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the column."""
    op.add_column("api_keys", sa.Column("last_used_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    """Removes the column."""
    op.drop_column("api_keys", "last_used_at")
