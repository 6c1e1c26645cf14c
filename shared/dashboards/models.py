"""Dashboards and their tiles."""

import uuid
from datetime import datetime

from sqlalchemy import JSON, ForeignKey, ForeignKeyConstraint, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.core.ids import new_id
from shared.postgres import Base, created_at_column, same_org


class Dashboard(Base):
    """A named page of tiles; `definition` is an object that only clients understand."""

    __tablename__ = "dashboards"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    org_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    name: Mapped[str]
    description: Mapped[str] = mapped_column(server_default=text("''"))
    definition: Mapped[dict[str, object]] = mapped_column(JSON)
    created_by: Mapped[str | None]
    created_at: Mapped[datetime] = created_at_column()
    updated_at: Mapped[datetime] = created_at_column()

    # Rows that refer to a dashboard do so within its organization.
    __table_args__ = (UniqueConstraint("org_id", "id", name="uq_dashboards_id"),)


class Tile(Base):
    """A saved query that is drawn on a dashboard's grid.

    Both foreign keys contain the organization, so a tile never refers to another one's rows.
    """

    __tablename__ = "dashboard_tiles"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    org_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
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
    created_at: Mapped[datetime] = created_at_column()
    updated_at: Mapped[datetime] = created_at_column()

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
