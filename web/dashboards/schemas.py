"""Request and response schemas of the routes of dashboards and tiles."""

from typing import Any

from marshmallow import Schema, fields

from shared.dashboards.rules import (
    CHART_TYPES,
    DEFAULT_HEIGHT,
    DEFAULT_WIDTH,
    MAX_CHART_CONFIG_BYTES,
    MAX_DEFINITION_BYTES,
    MAX_DESCRIPTION_LENGTH,
    MAX_NAME_LENGTH,
    MAX_PARAM_BINDINGS_BYTES,
    MAX_POSITION,
    MAX_TITLE_LENGTH,
)
from web.params import Body, Timestamp, description_field, name_field

_WHO = {"description": "the address of a person or the name of a key"}


def _opaque(what: str, most: int) -> fields.Dict:
    return fields.Dict(
        load_default=None,
        allow_none=True,
        metadata={
            "description": f"{what}; stored as it is, at most {most} bytes as JSON in ASCII; empty"
            " when absent",
            "example": {"note": "An example of a note"},
        },
    )


def _position(least: int, description: str | None = None) -> fields.Integer:
    """Returns a field for a grid position: required, or optional with the `description`."""
    bounds: dict[str, Any] = {"minimum": least, "maximum": MAX_POSITION}
    if description is None:
        return fields.Integer(required=True, strict=True, metadata=bounds)
    metadata = {**bounds, "description": description}
    return fields.Integer(load_default=None, allow_none=True, strict=True, metadata=metadata)


class DashboardBody(Body):
    """A dashboard as a whole, without its tiles."""

    name = name_field(MAX_NAME_LENGTH)
    description = description_field(MAX_DESCRIPTION_LENGTH)
    definition = _opaque("a client's own data about the dashboard", MAX_DEFINITION_BYTES)


class TileBody(Body):
    """A tile as a whole. Without a place a new tile goes below the others, and an old one stays."""

    query_id = fields.String(
        required=True,
        metadata={
            "format": "uuid",
            "description": "the saved query to show",
            "x-refers-to": "/v1/queries",
        },
    )
    title = fields.String(
        load_default=None,
        allow_none=True,
        metadata={
            "maxLength": MAX_TITLE_LENGTH,
            "description": "surrounding blanks are removed; empty when absent",
            "example": "An example of a title",
        },
    )
    chart_type = fields.String(required=True, metadata={"enum": list(CHART_TYPES)})
    chart_config = _opaque("a client's own data for drawing it", MAX_CHART_CONFIG_BYTES)
    param_bindings = _opaque("the values of the query's parameters", MAX_PARAM_BINDINGS_BYTES)
    pos_x = _position(0, "column from the left; 0 for a new tile")
    pos_y = _position(0, "row from the top; below the others for a new tile")
    pos_w = _position(1, f"width in columns; {DEFAULT_WIDTH} for a new tile")
    pos_h = _position(1, f"height in rows; {DEFAULT_HEIGHT} for a new tile")


class PlaceBody(Body):
    """The place of a tile."""

    id = fields.String(required=True, metadata={"format": "uuid"})
    pos_x = _position(0)
    pos_y = _position(0)
    pos_w = _position(1)
    pos_h = _position(1)


class LayoutBody(Body):
    """The places of tiles. Tiles that are not listed stay in place."""

    tiles = fields.List(fields.Nested(PlaceBody), required=True)


class TileRow(Schema):
    """A saved query on a dashboard."""

    id = fields.UUID(required=True)
    dashboard_id = fields.UUID(required=True)
    query_id = fields.UUID(required=True)
    title = fields.String(required=True)
    chart_type = fields.String(required=True, metadata={"enum": list(CHART_TYPES)})
    chart_config = fields.Dict(required=True)
    param_bindings = fields.Dict(required=True)
    pos_x = fields.Integer(required=True)
    pos_y = fields.Integer(required=True)
    pos_w = fields.Integer(required=True)
    pos_h = fields.Integer(required=True)
    created_at = Timestamp(required=True)
    updated_at = Timestamp(required=True)


class TileList(Schema):
    """The tiles of a dashboard, top to bottom, left to right."""

    tiles = fields.List(fields.Nested(TileRow), required=True)


class DashboardRow(Schema):
    """A dashboard without its tiles."""

    id = fields.UUID(required=True)
    name = fields.String(required=True)
    description = fields.String(required=True)
    definition = fields.Dict(required=True)
    tile_count = fields.Integer(required=True)
    created_by = fields.String(required=True, allow_none=True, metadata=_WHO)
    created_at = Timestamp(required=True)
    updated_at = Timestamp(
        required=True, metadata={"description": "last change of anything but its tiles"}
    )


class DashboardDetail(DashboardRow):
    """A dashboard with its tiles, top to bottom, left to right."""

    tiles = fields.List(fields.Nested(TileRow), required=True)


class DashboardList(Schema):
    """The organization's dashboards, newest first."""

    dashboards = fields.List(fields.Nested(DashboardRow), required=True)


class LaidOut(Schema):
    """The result of a layout."""

    updated = fields.Integer(
        required=True, metadata={"description": "number of tiles in the request"}
    )


class DeletedDashboard(Schema):
    """A deleted dashboard or tile."""

    ok = fields.Boolean(required=True)
