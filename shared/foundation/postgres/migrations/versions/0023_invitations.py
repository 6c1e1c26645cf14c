"""Invitations that a person has not taken up, and sessions that are not for every organization."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the columns. Memberships that exist count as taken up, as they did before."""
    pending = sa.Column("is_pending", sa.Boolean, nullable=False, server_default=sa.false())
    op.add_column("memberships", pending)
    op.add_column("memberships", sa.Column("signed_out_at", sa.DateTime(timezone=True)))
    op.add_column("sign_in_sessions", sa.Column("used_in", ARRAY(sa.Uuid)))


def downgrade() -> None:
    """Removes the columns."""
    op.drop_column("sign_in_sessions", "used_in")
    op.drop_column("memberships", "signed_out_at")
    op.drop_column("memberships", "is_pending")
