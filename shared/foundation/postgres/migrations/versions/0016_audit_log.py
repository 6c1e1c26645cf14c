"""The audit log."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_REFUSE = """
CREATE FUNCTION audit_log_refuse_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'lines of the audit log are never changed';
END
$$
"""
_TRIGGER = """
CREATE TRIGGER audit_log_refuse_update BEFORE UPDATE ON audit_log
FOR EACH STATEMENT EXECUTE FUNCTION audit_log_refuse_update()
"""


def upgrade() -> None:
    """Adds the table, and a trigger that refuses to change its rows."""
    op.create_table(
        "audit_log",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("org_id", sa.Uuid, sa.ForeignKey("organizations.id", ondelete="CASCADE")),
        sa.Column(
            "at",
            sa.DateTime(timezone=True),
            nullable=False,
            server_default=sa.func.clock_timestamp(),
        ),
        sa.Column("actor_kind", sa.Text, nullable=False),
        sa.Column("actor_id", sa.Uuid),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("key_name", sa.Text),
        sa.Column("way", sa.Text, nullable=False),
        sa.Column("address", sa.Text),
        sa.Column("request_id", sa.Text),
        sa.Column("noun", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("target_id", sa.Text),
        sa.Column("target", sa.Text),
        sa.Column("before", sa.JSON),
        sa.Column("after", sa.JSON),
    )
    op.create_index("ix_audit_log_newest", "audit_log", ["org_id", "at", "id"])
    for name, column in (
        ("noun", "noun"),
        ("action", "action"),
        ("actor", "actor"),
        ("target", "target_id"),
    ):
        op.create_index(f"ix_audit_log_{name}", "audit_log", ["org_id", column, "at", "id"])
    op.execute(_REFUSE)
    op.execute(_TRIGGER)


def downgrade() -> None:
    """Removes both."""
    op.drop_table("audit_log")
    op.execute("DROP FUNCTION audit_log_refuse_update()")
