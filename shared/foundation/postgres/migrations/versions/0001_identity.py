"""Organizations, people, API keys, and the built-in organization `default`."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_NOW = sa.func.clock_timestamp()
_TOKENS = postgresql.ARRAY(sa.Text)


def upgrade() -> None:
    """Adds the four tables and the default organization."""
    _organizations()
    _users()
    _api_keys()
    # A fixed id, so that a new database finds the events of the default organization again.
    op.execute(
        "INSERT INTO organizations (id, slug, name)"
        " VALUES ('00000000-0000-4000-8000-000000000001', 'default', 'Default')"
    )


def downgrade() -> None:
    """Removes the tables."""
    for table in ("api_keys", "memberships", "users", "organizations"):
        op.drop_table(table)


def _organizations() -> None:
    op.create_table(
        "organizations",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("slug", sa.Text, nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("billing_anchor", _TIME, server_default=_NOW, nullable=False),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("deleted_at", _TIME),
    )


def _users() -> None:
    op.create_table(
        "users",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("email", sa.Text, nullable=False, unique=True),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
    )
    op.create_table(
        "memberships",
        _reference("org_id", "organizations.id", primary_key=True),
        _reference("user_id", "users.id", primary_key=True, index=True),
        sa.Column("permission_set", sa.Text),
        sa.Column("permission_added", _TOKENS, server_default="{}", nullable=False),
        sa.Column("permission_removed", _TOKENS, server_default="{}", nullable=False),
        sa.Column("is_protected", sa.Boolean, server_default=sa.false(), nullable=False),
        sa.Column("disabled_at", _TIME),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("updated_at", _TIME, server_default=_NOW, nullable=False),
    )


def _api_keys() -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", sa.Uuid, primary_key=True),
        _reference("org_id", "organizations.id", nullable=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("key_hash", sa.LargeBinary, nullable=False),
        sa.Column("permissions", _TOKENS, nullable=False),
        sa.Column("is_protected", sa.Boolean, server_default=sa.false(), nullable=False),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("revoked_at", _TIME),
        sa.Column("expires_at", _TIME),
        sa.UniqueConstraint("key_hash", deferrable=True),
    )
    op.create_index(
        "uq_api_keys_live_name",
        "api_keys",
        ["org_id", "name"],
        unique=True,
        postgresql_where=sa.text("revoked_at IS NULL"),
    )
    op.create_index(
        "uq_api_keys_instance_name",
        "api_keys",
        ["name"],
        unique=True,
        postgresql_where=sa.text("org_id IS NULL"),
    )


def _reference(
    name: str,
    target: str,
    *,
    primary_key: bool = False,
    nullable: bool = False,
    index: bool = False,
) -> sa.Column[object]:
    return sa.Column(
        name,
        sa.Uuid,
        sa.ForeignKey(target, ondelete="CASCADE"),
        primary_key=primary_key,
        nullable=nullable,
        index=index,
    )
