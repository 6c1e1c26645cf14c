"""The salt of the hashes of deleted sessions; null for organizations whose id is the salt."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the column. The previous release makes organizations without one."""
    op.add_column("organizations", sa.Column("deletion_salt", sa.Text))


def downgrade() -> None:
    """Removes the column."""
    op.drop_column("organizations", "deletion_salt")
