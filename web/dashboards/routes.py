"""Dashboards and their tiles."""

from typing import Any

from flask import Response

from shared.foundation.core.clock import EPOCH, now
from shared.reading.dashboards import service as dashboards
from shared.reading.dashboards import tiles
from shared.reading.dashboards.models import Tile
from shared.reading.dashboards.rules import DashboardContent, TileContent, TilePlace
from shared.reading.dashboards.service import CountedDashboard
from web.auth import current_identity, current_org_id, requires
from web.blueprint import Blueprint
from web.dashboards import schemas
from web.queries.run import QueryResult, run_statement
from web.responses import row_of
from web.state import runtime
from web.transaction import Tx, in_transaction

blueprint = Blueprint("dashboards", "Pages of charts over saved queries")

_PLACE = ("pos_x", "pos_y", "pos_w", "pos_h")


@blueprint.route("/dashboards")
@requires("dashboards:read")
@blueprint.response(200, schemas.DashboardList)
@in_transaction
def list_dashboards(tx: Tx) -> dict[str, Any]:
    """List the organization's dashboards, newest first, without their tiles."""
    return {"dashboards": [_row(one) for one in dashboards.list_(*tx)]}


@blueprint.route("/dashboards", methods=["POST"])
@requires("dashboards:write")
@blueprint.arguments(schemas.DashboardBody)
@blueprint.response(201, schemas.DashboardRow, errors=(409,))
@in_transaction
def create_dashboard(tx: Tx, body: dict[str, Any]) -> dict[str, Any]:
    """Create a dashboard without tiles.

    An organization has at most 2000 dashboards with at most 16 MiB in total.
    """
    author = current_identity().name
    made = dashboards.create(*tx, _content(body), created_by=author)
    return _row(CountedDashboard(made, 0))


@blueprint.route("/dashboards/<dashboard_id>")
@requires("dashboards:read")
@blueprint.response(200, schemas.DashboardDetail)
@in_transaction
def get_dashboard(tx: Tx, dashboard_id: str) -> dict[str, Any]:
    """Read one dashboard with its tiles, top to bottom, left to right."""
    found = dashboards.get(*tx, dashboard_id)
    shown = tiles.of_dashboard(tx.session, found)
    return {**_row(CountedDashboard(found, len(shown))), "tiles": shown}


@blueprint.route("/dashboards/<dashboard_id>", methods=["PUT"])
@requires("dashboards:write")
@blueprint.arguments(schemas.DashboardBody)
@blueprint.response(200, schemas.DashboardRow, errors=(409,))
@in_transaction
def replace_dashboard(tx: Tx, body: dict[str, Any], dashboard_id: str) -> dict[str, Any]:
    """Replace a dashboard's name, description and definition. Its tiles stay."""
    return _row(dashboards.replace(*tx, dashboard_id, _content(body)))


@blueprint.route("/dashboards/<dashboard_id>", methods=["DELETE"])
@requires("dashboards:delete")
@blueprint.response(200, schemas.DeletedDashboard)
@in_transaction
def delete_dashboard(tx: Tx, dashboard_id: str) -> dict[str, bool]:
    """Delete a dashboard with its tiles for good. The queries of the tiles stay."""
    dashboards.delete(*tx, dashboard_id)
    return {"ok": True}


@blueprint.route("/dashboards/<dashboard_id>/tiles")
@requires("dashboards:read")
@blueprint.response(200, schemas.TileList)
@in_transaction
def list_tiles(tx: Tx, dashboard_id: str) -> dict[str, list[Tile]]:
    """List the tiles of a dashboard, top to bottom, left to right."""
    return {"tiles": tiles.list_(*tx, dashboard_id)}


@blueprint.route("/dashboards/<dashboard_id>/tiles", methods=["POST"])
@requires("dashboards:write")
@blueprint.arguments(schemas.TileBody)
@blueprint.response(201, schemas.TileRow, errors=(409,))
@in_transaction
def create_tile(tx: Tx, body: dict[str, Any], dashboard_id: str) -> Tile:
    """Put a saved query on a dashboard, by default below its other tiles.

    A query that the organization does not have is refused with 422 under `query_id`. A dashboard
    has at most 500 tiles with at most 4 MiB in total.
    """
    return tiles.create(*tx, dashboard_id, _tile(body))


@blueprint.route("/dashboards/<dashboard_id>/tiles/<tile_id>/run", methods=["POST"])
@requires("dashboards:read")
@blueprint.arguments(schemas.RangeBody)
@blueprint.response(200, QueryResult, errors=(429, 504))
def run_tile(body: dict[str, Any], dashboard_id: str, tile_id: str) -> Response:
    """Run the saved query of a tile, with the tile's own values for its parameters.

    Parameters that are saved with the name `from` or `to` get the bounds of the range. The limits
    are those of `/queries/run`.
    """
    start, end = body["ts_from"] or EPOCH, body["ts_to"] or now()
    with runtime().postgres.transaction() as session:
        sql, params = tiles.statement_of(
            session, current_org_id(), dashboard_id, tile_id, start=start, end=end
        )
    return run_statement(sql, params)


@blueprint.route("/dashboards/<dashboard_id>/tiles/<tile_id>", methods=["PUT"])
@requires("dashboards:write")
@blueprint.arguments(schemas.TileBody)
@blueprint.response(200, schemas.TileRow, errors=(409,))
@in_transaction
def replace_tile(tx: Tx, body: dict[str, Any], dashboard_id: str, tile_id: str) -> Tile:
    """Replace a tile as a whole. Without a position it stays in its place."""
    return tiles.replace(*tx, dashboard_id, tile_id, _tile(body))


@blueprint.route("/dashboards/<dashboard_id>/tiles/<tile_id>", methods=["DELETE"])
@requires("dashboards:write")
@blueprint.response(200, schemas.DeletedDashboard)
@in_transaction
def delete_tile(tx: Tx, dashboard_id: str, tile_id: str) -> dict[str, bool]:
    """Delete a tile for good. Its query stays."""
    tiles.delete(*tx, dashboard_id, tile_id)
    return {"ok": True}


@blueprint.route("/dashboards/<dashboard_id>/tiles/layout", methods=["PUT"])
@requires("dashboards:write")
@blueprint.arguments(schemas.LayoutBody)
@blueprint.response(200, schemas.LaidOut)
@in_transaction
def lay_out_tiles(tx: Tx, body: dict[str, Any], dashboard_id: str) -> dict[str, int]:
    """Move all named tiles. If one of them is not on the dashboard (404), none moves."""
    places = [
        (one["id"], TilePlace(**{name: one[name] for name in _PLACE})) for one in body["tiles"]
    ]
    return {"updated": tiles.lay_out(*tx, dashboard_id, places)}


def _row(counted: CountedDashboard) -> dict[str, Any]:
    return row_of(schemas.DashboardRow, counted.dashboard, tile_count=counted.tile_count)


def _content(body: dict[str, Any]) -> DashboardContent:
    return DashboardContent(
        name=body["name"],
        description=body["description"] or "",
        definition=body["definition"] or {},
    )


def _tile(body: dict[str, Any]) -> TileContent:
    return TileContent(
        query_id=body["query_id"],
        title=body["title"] or "",
        chart_type=body["chart_type"],
        chart_config=body["chart_config"] or {},
        param_bindings=body["param_bindings"] or {},
        place={name: body[name] for name in _PLACE},
    )
