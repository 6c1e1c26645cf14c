"""Where a sign-in session began, and when it was used last."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the columns."""
    op.add_column("sign_in_sessions", sa.Column("last_used_at", sa.DateTime(timezone=True)))
    op.add_column("sign_in_sessions", sa.Column("address", sa.Text))
    op.add_column("sign_in_sessions", sa.Column("browser", sa.Text))


def downgrade() -> None:
    """Removes the columns."""
    for name in ("browser", "address", "last_used_at"):
        op.drop_column("sign_in_sessions", name)
