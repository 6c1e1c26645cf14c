"""Saved queries, dashboards with their tiles, and the record of creations."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_NOW = sa.func.clock_timestamp()


def upgrade() -> None:
    """Adds the four tables."""
    op.create_table(
        "saved_queries",
        *_described(),
        sa.Column("sql_text", sa.Text, nullable=False),
        sa.Column("params", sa.JSON, nullable=False),
        *_made(),
        sa.UniqueConstraint("org_id", "name", name="uq_saved_queries_name"),
        sa.UniqueConstraint("org_id", "id", name="uq_saved_queries_id"),
    )
    op.create_table(
        "dashboards",
        *_described(),
        sa.Column("definition", sa.JSON, nullable=False),
        *_made(),
        sa.UniqueConstraint("org_id", "id", name="uq_dashboards_id"),
    )
    _tiles()
    op.create_table(
        "creations",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        _organization(),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
    )
    op.create_index("ix_creations_of_kind", "creations", ["org_id", "kind", "created_at"])


def downgrade() -> None:
    """Removes the tables."""
    for table in ("creations", "dashboard_tiles", "dashboards", "saved_queries"):
        op.drop_table(table)


def _tiles() -> None:
    op.create_table(
        "dashboard_tiles",
        sa.Column("id", sa.Uuid, primary_key=True),
        _organization(),
        sa.Column("dashboard_id", sa.Uuid, nullable=False),
        sa.Column("query_id", sa.Uuid, nullable=False),
        sa.Column("title", sa.Text, server_default="", nullable=False),
        sa.Column("chart_type", sa.Text, nullable=False),
        sa.Column("chart_config", sa.JSON, nullable=False),
        sa.Column("param_bindings", sa.JSON, nullable=False),
        *(
            sa.Column(name, sa.Integer, nullable=False)
            for name in ("pos_x", "pos_y", "pos_w", "pos_h")
        ),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("updated_at", _TIME, server_default=_NOW, nullable=False),
        sa.ForeignKeyConstraint(
            ["org_id", "dashboard_id"],
            ["dashboards.org_id", "dashboards.id"],
            name="fk_dashboard_tiles_dashboard",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["org_id", "query_id"],
            ["saved_queries.org_id", "saved_queries.id"],
            name="fk_dashboard_tiles_query",
        ),
    )
    op.create_index("ix_dashboard_tiles_dashboard", "dashboard_tiles", ["org_id", "dashboard_id"])
    op.create_index("ix_dashboard_tiles_query", "dashboard_tiles", ["org_id", "query_id"])


def _organization() -> sa.Column[object]:
    return sa.Column(
        "org_id", sa.Uuid, sa.ForeignKey("organizations.id", ondelete="CASCADE"), nullable=False
    )


def _described() -> list[sa.Column[object]]:
    return [
        sa.Column("id", sa.Uuid, primary_key=True),
        _organization(),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("description", sa.Text, server_default="", nullable=False),
    ]


def _made() -> list[sa.Column[object]]:
    return [
        sa.Column("created_by", sa.Text),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("updated_at", _TIME, server_default=_NOW, nullable=False),
    ]
