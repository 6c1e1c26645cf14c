"""Sign-in by e-mailed code: valid codes and the sessions that they opened."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_NOW = sa.func.clock_timestamp()


def upgrade() -> None:
    """Adds both tables."""
    op.create_table(
        "sign_in_codes",
        sa.Column("email", sa.Text, primary_key=True),
        sa.Column("salt", sa.LargeBinary, nullable=False),
        sa.Column("code_hash", sa.LargeBinary, nullable=False),
        sa.Column("wrong_tries", sa.Integer, server_default="0", nullable=False),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("expires_at", _TIME, nullable=False),
    )
    op.create_table(
        "sign_in_sessions",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("token_hash", sa.LargeBinary, nullable=False, unique=True),
        sa.Column(
            "user_id",
            sa.Uuid,
            sa.ForeignKey("users.id", ondelete="CASCADE"),
            nullable=False,
            index=True,
        ),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("expires_at", _TIME, nullable=False, index=True),
    )


def downgrade() -> None:
    """Removes the tables; everybody is signed out."""
    op.drop_table("sign_in_sessions")
    op.drop_table("sign_in_codes")
