"""Wrong sign-in codes of an address, which guesses from many clients add up in."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the table."""
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "sign_in_guesses",
        sa.Column("email", sa.Text, primary_key=True),
        sa.Column("tried_at", ARRAY(moment), nullable=False),
        sa.Column("long_until", moment),
        sa.Column("is_told", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("expires_at", moment, nullable=False, index=True),
    )


def downgrade() -> None:
    """Removes the table."""
    op.drop_table("sign_in_guesses")
