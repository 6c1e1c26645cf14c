"""Tiles of a dashboard: each shows a saved query at a place on the grid."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from dataclasses import replace as with_fields
from datetime import datetime

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from shared.foundation.core.errors import Invalid, NotFound
from shared.foundation.core.ids import parse_uuid
from shared.foundation.postgres import transaction_time
from shared.foundation.postgres.rows import change, require_row, sizes
from shared.reading.dashboards import rules
from shared.reading.dashboards import service as dashboards
from shared.reading.dashboards.models import Dashboard, Tile
from shared.reading.dashboards.parameters import values_of
from shared.reading.queries import service as queries


def list_(session: Session, org_id: uuid.UUID, dashboard_id: str) -> list[Tile]:
    """Lists the tiles of a dashboard, top to bottom, left to right; raises `NotFound`."""
    return of_dashboard(session, dashboards.get(session, org_id, dashboard_id))


def of_dashboard(session: Session, dashboard: Dashboard) -> list[Tile]:
    """Lists the tiles of a dashboard that was already found in its organization."""
    in_order = _of(dashboard).order_by(Tile.pos_y, Tile.pos_x, Tile.created_at, Tile.id)
    return list(session.scalars(in_order))


def statement_of(
    session: Session,
    org_id: uuid.UUID,
    dashboard_id: str,
    tile_id: str,
    *,
    start: datetime,
    end: datetime,
) -> tuple[str, list[object]]:
    """Returns the SQL that a tile shows, and the values of its parameters for this range.

    Raises `NotFound`.
    """
    tile = _one(session, dashboards.get(session, org_id, dashboard_id), tile_id)
    query = queries.get(session, org_id, str(tile.query_id))
    return query.sql_text, values_of(query.params, tile.param_bindings, start, end)


def create(
    session: Session, org_id: uuid.UUID, dashboard_id: str, wanted: rules.TileContent
) -> Tile:
    """Creates a tile, by default below the others.

    Raises `NotFound`, `Invalid` naming the field (`query_id` for a query that does not exist),
    `Conflict` if the dashboard has no room for another tile.
    """
    columns, size = rules.checked_tile(wanted)
    dashboard = dashboards.changeable(session, org_id, dashboard_id)
    below = select(func.max(Tile.pos_y + Tile.pos_h)).where(
        Tile.org_id == org_id, Tile.dashboard_id == dashboard.id
    )
    free = rules.TilePlace(
        pos_x=0,
        pos_y=min(session.scalar(below) or 0, rules.MAX_POSITION),
        pos_w=rules.DEFAULT_WIDTH,
        pos_h=rules.DEFAULT_HEIGHT,
    )
    place = rules.require_place(_placed(wanted.place, free))
    query = queries.chosen(session, org_id, wanted.query_id, "query_id")
    rules.TILE_ROOM.require(session, _sizes(dashboard), size, what="tiles of a dashboard")
    moment = transaction_time(session)
    tile = Tile(
        org_id=org_id,
        dashboard_id=dashboard.id,
        query_id=query.id,
        created_at=moment,
        updated_at=moment,
        **columns,
        **asdict(place),
    )
    session.add(tile)
    session.flush()
    return tile


def replace(
    session: Session, org_id: uuid.UUID, dashboard_id: str, tile_id: str, wanted: rules.TileContent
) -> Tile:
    """Replaces the content of a tile; coordinates that are not given stay unchanged.

    Raises the errors of `create`.
    """
    columns, size = rules.checked_tile(wanted)
    dashboard = dashboards.changeable(session, org_id, dashboard_id)
    tile = _one(session, dashboard, tile_id)
    place = rules.require_place(_placed(wanted.place, _place_of(tile)))
    query = queries.chosen(session, org_id, wanted.query_id, "query_id")
    others = _sizes(dashboard).where(Tile.id != tile.id)
    rules.TILE_ROOM.require(session, others, size, what="tiles of a dashboard")
    change(session, tile, {**columns, **asdict(place), "query_id": query.id})
    return tile


def delete(session: Session, org_id: uuid.UUID, dashboard_id: str, tile_id: str) -> None:
    """Deletes a tile; raises `NotFound`."""
    dashboard = dashboards.changeable(session, org_id, dashboard_id)
    session.delete(_one(session, dashboard, tile_id))


def lay_out(
    session: Session,
    org_id: uuid.UUID,
    dashboard_id: str,
    places: Sequence[tuple[str, rules.TilePlace]],
) -> int:
    """Moves these tiles, given by id, all or none; returns their number.

    Raises `NotFound` for a tile that is not on the dashboard, `Invalid` naming the field
    (`tiles.3.pos_w`, or `tiles.3.id` for a tile that was already given).
    """
    wanted = _wanted_places(places)
    dashboard = dashboards.changeable(session, org_id, dashboard_id)
    tiles = {tile.id: tile for tile in session.scalars(_of(dashboard))}
    for asked, _ in places:
        if parse_uuid(asked) not in tiles:
            raise NotFound.named("tile", asked)
    moment = transaction_time(session)
    for tile_id, tile in tiles.items():
        if tile_id in wanted:
            for name, value in asdict(wanted[tile_id]).items():
                setattr(tile, name, value)
            tile.updated_at = moment
    return len(wanted)


def _wanted_places(
    places: Sequence[tuple[str, rules.TilePlace]],
) -> Mapping[uuid.UUID | None, rules.TilePlace]:
    """Returns the places by tile; None stands for malformed ids."""
    bad: dict[str, list[str]] = {}
    wanted: dict[uuid.UUID | None, rules.TilePlace] = {}
    for index, (tile_id, place) in enumerate(places):
        bad |= rules.place_errors(place, f"tiles.{index}.")
        parsed = parse_uuid(tile_id)
        if parsed is not None and parsed in wanted:
            bad[f"tiles.{index}.id"] = ["the tile is given twice"]
        wanted[parsed] = place
    if bad:
        raise Invalid("the tiles cannot be placed like this", fields=bad)
    return wanted


def _placed(wanted: Mapping[str, int | None], otherwise: rules.TilePlace) -> rules.TilePlace:
    """Returns the wanted place; takes missing coordinates from the other one."""
    return with_fields(otherwise, **{n: v for n, v in wanted.items() if v is not None})


def _place_of(tile: Tile) -> rules.TilePlace:
    return rules.TilePlace(tile.pos_x, tile.pos_y, tile.pos_w, tile.pos_h)


def _of(dashboard: Dashboard) -> Select[Tile]:
    return select(Tile).where(Tile.org_id == dashboard.org_id, Tile.dashboard_id == dashboard.id)


def _one(session: Session, dashboard: Dashboard, tile_id: str) -> Tile:
    return require_row(session, _of(dashboard), Tile.id, tile_id, "tile")


def _sizes(dashboard: Dashboard) -> Select[int]:
    of_each = sizes(Tile.chart_config, Tile.param_bindings)
    return of_each.where(Tile.org_id == dashboard.org_id, Tile.dashboard_id == dashboard.id)
