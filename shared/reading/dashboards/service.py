"""Dashboards of an organization, and the deletion of queries that dashboards may show."""

import uuid
from typing import NamedTuple

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from shared.access.audit_log import fields_of, record
from shared.access.organizations import creations
from shared.foundation.core.errors import Conflict
from shared.foundation.postgres import transaction_time
from shared.foundation.postgres.rows import change, require_row, sizes
from shared.reading.dashboards.models import Dashboard, Tile
from shared.reading.dashboards.rules import ROOM, DashboardContent, checked_dashboard
from shared.reading.queries import service as queries


class CountedDashboard(NamedTuple):
    """A dashboard and the number of its tiles."""

    dashboard: Dashboard
    tile_count: int


def list_(session: Session, org_id: uuid.UUID) -> list[CountedDashboard]:
    """Lists the organization's dashboards, newest first."""
    tile_count = (
        select(func.count())
        .where(Tile.org_id == org_id, Tile.dashboard_id == Dashboard.id)
        .scalar_subquery()
    )
    query = _of(org_id).add_columns(tile_count)
    newest_first = query.order_by(Dashboard.created_at.desc(), Dashboard.id)
    return [
        CountedDashboard(dashboard, count) for dashboard, count in session.execute(newest_first)
    ]


def get(session: Session, org_id: uuid.UUID, dashboard_id: str) -> Dashboard:
    """Returns one dashboard; raises `NotFound`."""
    return require_row(session, _of(org_id), Dashboard.id, dashboard_id, "dashboard")


def changeable(session: Session, org_id: uuid.UUID, dashboard_id: str) -> Dashboard:
    """Locks one dashboard until the transaction ends; raises `NotFound`.

    Every change of tiles locks their dashboard first, so writers of one dashboard wait for each
    other and cannot deadlock.
    """
    return require_row(
        session, _of(org_id).with_for_update(), Dashboard.id, dashboard_id, "dashboard"
    )


def create(
    session: Session, org_id: uuid.UUID, wanted: DashboardContent, *, created_by: str
) -> Dashboard:
    """Creates a dashboard without tiles.

    Raises `Invalid` naming the field, `Conflict` if there is no room for another one.
    """
    columns, size = checked_dashboard(wanted)
    ROOM.require(session, _sizes(org_id), size, what="dashboards")
    moment = transaction_time(session)
    dashboard = Dashboard(
        org_id=org_id, created_by=created_by, created_at=moment, updated_at=moment, **columns
    )
    session.add(dashboard)
    creations.record(session, org_id, "dashboard")
    session.flush()
    after = _logged(dashboard)
    record(session, org_id, "dashboard.create", of=dashboard, after=after)
    return dashboard


def replace(
    session: Session, org_id: uuid.UUID, dashboard_id: str, wanted: DashboardContent
) -> CountedDashboard:
    """Replaces the content of a dashboard and keeps its tiles.

    Raises `NotFound`, and as `create` does.
    """
    columns, size = checked_dashboard(wanted)
    dashboard = changeable(session, org_id, dashboard_id)
    others = _sizes(org_id).where(Dashboard.id != dashboard.id)
    ROOM.require(session, others, size, what="dashboards")
    before = _logged(dashboard)
    change(session, dashboard, columns)
    record(
        session, org_id, "dashboard.update", of=dashboard, before=before, after=_logged(dashboard)
    )
    count = select(func.count()).where(Tile.org_id == org_id, Tile.dashboard_id == dashboard.id)
    return CountedDashboard(dashboard, session.scalar(count) or 0)


def delete(session: Session, org_id: uuid.UUID, dashboard_id: str) -> None:
    """Deletes a dashboard with its tiles; raises `NotFound`."""
    dashboard = changeable(session, org_id, dashboard_id)
    session.delete(dashboard)
    record(session, org_id, "dashboard.delete", of=dashboard, before=_logged(dashboard))


def delete_query(session: Session, org_id: uuid.UUID, query_id: str) -> None:
    """Deletes a saved query; raises `NotFound`, and `Conflict` while a tile shows it."""
    query = queries.changeable(session, org_id, query_id)
    showing = select(func.count(), func.count(Tile.dashboard_id.distinct())).where(
        Tile.org_id == org_id, Tile.query_id == query.id
    )
    [(tiles, dashboards)] = session.execute(showing)
    if tiles:
        raise Conflict(
            f"delete the tiles first: the query is shown by {_counted(tiles, 'tile')}"
            f" on {_counted(dashboards, 'dashboard')}",
            code="query_in_use",
        )
    session.delete(query)
    before = queries.logged(query)
    record(session, org_id, "query.delete", of=query, before=before)


def _logged(dashboard: Dashboard) -> dict[str, object]:
    return fields_of(dashboard, "name", "description")


def _of(org_id: uuid.UUID) -> Select[Dashboard]:
    return select(Dashboard).where(Dashboard.org_id == org_id)


def _sizes(org_id: uuid.UUID) -> Select[int]:
    of_each = sizes(Dashboard.name, Dashboard.description, Dashboard.definition)
    return of_each.where(Dashboard.org_id == org_id)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
