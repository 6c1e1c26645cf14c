"""Holders of all older permissions also get `events:delete`."""

from alembic import op

from shared.foundation.postgres.new_permission import FIRST, give

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

gives = "events:delete"


def upgrade() -> None:
    """Widens keys, sets and members."""
    give(op.get_bind(), gives, FIRST)


def downgrade() -> None:
    """Does nothing: which grants came from this migration is no longer known."""
