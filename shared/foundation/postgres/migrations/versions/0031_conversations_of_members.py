"""Conversations refer to a membership, and go with it."""

from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

_TABLE = "conversations"


def upgrade() -> None:
    """Refers to memberships in place of accounts. A conversation without a membership goes."""
    op.execute(
        f"DELETE FROM {_TABLE} WHERE NOT EXISTS (SELECT FROM memberships AS member"
        f" WHERE member.org_id = {_TABLE}.org_id AND member.user_id = {_TABLE}.user_id)"
    )
    op.create_foreign_key(
        "fk_conversations_org_id_user_id",
        _TABLE,
        "memberships",
        ["org_id", "user_id"],
        ["org_id", "user_id"],
        ondelete="CASCADE",
    )
    op.drop_constraint("fk_conversations_user_id", _TABLE)


def downgrade() -> None:
    """Refers to accounts again."""
    op.create_foreign_key(
        "fk_conversations_user_id", _TABLE, "users", ["user_id"], ["id"], ondelete="CASCADE"
    )
    op.drop_constraint("fk_conversations_org_id_user_id", _TABLE)
