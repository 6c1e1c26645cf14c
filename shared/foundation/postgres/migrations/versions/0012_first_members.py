"""The addresses that ADMIN_EMAIL has made members, so that a removed one stays removed."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

# An earlier release protected the member of ADMIN_EMAIL and kept no other sign of it.
_FILL = """
INSERT INTO first_members (org_id, email)
SELECT memberships.org_id, users.email
FROM memberships
JOIN users ON users.id = memberships.user_id
JOIN organizations ON organizations.id = memberships.org_id
WHERE memberships.is_protected AND organizations.slug = 'default'
"""


def upgrade() -> None:
    """Adds the table, with the protected members of the default organization."""
    op.create_table(
        "first_members",
        sa.Column(
            "org_id",
            sa.Uuid,
            sa.ForeignKey("organizations.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("email", sa.Text, primary_key=True),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.func.clock_timestamp(),
            nullable=False,
        ),
    )
    op.execute(_FILL)


def downgrade() -> None:
    """Removes the table."""
    op.drop_table("first_members")
