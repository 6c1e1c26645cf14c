"""Groups of alerts, and the levels of budgets that were announced."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Adds the columns and the table."""
    op.add_column(
        "alerts", sa.Column("spec_revision", sa.Integer, server_default="1", nullable=False)
    )
    op.add_column(
        "alert_states",
        sa.Column("groups", JSONB, server_default=sa.text("'{}'::jsonb"), nullable=False),
    )
    op.add_column("incidents", sa.Column("breach_group", JSONB))
    op.add_column("incidents", sa.Column("level", JSONB))
    op.add_column("incidents", sa.Column("ends_at", _MOMENT))
    op.create_table(
        "budget_levels",
        sa.Column(
            "org_id",
            sa.Uuid,
            sa.ForeignKey("organizations.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("alert_id", sa.Uuid, primary_key=True),
        sa.Column("spec_revision", sa.Integer, primary_key=True),
        sa.Column("starts_at", _MOMENT, primary_key=True),
        sa.Column("group_value", sa.Text, primary_key=True),
        sa.Column("group_field", sa.Text),
        sa.Column("level", sa.Integer, server_default="0", nullable=False),
        sa.Column("has_forecast", sa.Boolean, server_default="false", nullable=False),
        sa.ForeignKeyConstraint(
            ["org_id", "alert_id"],
            ["alerts.org_id", "alerts.id"],
            name="fk_budget_levels_alert",
            ondelete="CASCADE",
        ),
    )


def downgrade() -> None:
    """Removes them."""
    op.drop_table("budget_levels")
    for name in ("ends_at", "level", "breach_group"):
        op.drop_column("incidents", name)
    op.drop_column("alert_states", "groups")
    op.drop_column("alerts", "spec_revision")
