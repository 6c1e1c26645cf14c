"""Sign-in at a provider of OpenID Connect: people's identities there, and what groups gave."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the tables."""
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "external_identities",
        sa.Column("issuer", sa.Text, primary_key=True),
        sa.Column("subject", sa.Text, primary_key=True),
        sa.Column(
            "user_id", sa.Uuid, sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("created_at", moment, nullable=False, server_default=sa.func.clock_timestamp()),
        sa.UniqueConstraint("user_id", "issuer", name="uq_external_identities_user"),
    )
    op.create_table(
        "group_grants",
        sa.Column(
            "org_id",
            sa.Uuid,
            sa.ForeignKey("organizations.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("user_id", sa.Uuid, primary_key=True),
        sa.Column("permission_set", sa.Text, nullable=False),
        sa.Column("previous_set", sa.Text),
        sa.Column("made_membership", sa.Boolean, nullable=False),
        sa.Column("withdrawn_at", moment),
        sa.Column("created_at", moment, nullable=False, server_default=sa.func.clock_timestamp()),
        sa.ForeignKeyConstraint(
            ["org_id", "user_id"],
            ["memberships.org_id", "memberships.user_id"],
            name="fk_group_grants_membership",
            ondelete="CASCADE",
        ),
    )


def downgrade() -> None:
    """Removes the tables."""
    op.drop_table("group_grants")
    op.drop_table("external_identities")
