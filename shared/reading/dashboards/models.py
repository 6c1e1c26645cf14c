"""Dashboards and their tiles."""

import uuid

from sqlalchemy import JSON, ForeignKeyConstraint, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.postgres import Base, same_org
from shared.foundation.postgres.columns import OfOrganization, Timestamps


class Dashboard(OfOrganization, Timestamps, Base):
    """A named page of tiles; `definition` is an object that only clients understand."""

    __tablename__ = "dashboards"

    name: Mapped[str]
    description: Mapped[str] = mapped_column(server_default=text("''"))
    definition: Mapped[dict[str, object]] = mapped_column(JSON)
    created_by: Mapped[str | None]

    # Rows that refer to a dashboard do so within its organization.
    __table_args__ = (UniqueConstraint("org_id", "id", name="uq_dashboards_id"),)


class Tile(OfOrganization, Timestamps, Base):
    """A saved query that is drawn on a dashboard's grid.

    Both foreign keys contain the organization, so a tile never refers to another one's rows.
    """

    __tablename__ = "dashboard_tiles"

    dashboard_id: Mapped[uuid.UUID]
    query_id: Mapped[uuid.UUID]
    title: Mapped[str] = mapped_column(server_default=text("''"))
    chart_type: Mapped[str]
    chart_config: Mapped[dict[str, object]] = mapped_column(JSON)
    param_bindings: Mapped[dict[str, object]] = mapped_column(JSON)
    pos_x: Mapped[int]
    pos_y: Mapped[int]
    pos_w: Mapped[int]
    pos_h: Mapped[int]

    __table_args__ = (
        same_org("dashboard_id", "dashboards", name="fk_dashboard_tiles_dashboard"),
        ForeignKeyConstraint(
            ["org_id", "query_id"],
            ["saved_queries.org_id", "saved_queries.id"],
            name="fk_dashboard_tiles_query",
        ),
        Index("ix_dashboard_tiles_dashboard", "org_id", "dashboard_id"),
        Index("ix_dashboard_tiles_query", "org_id", "query_id"),
    )
