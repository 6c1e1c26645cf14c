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
            "description": f"{what}; kept as it is, at most {most} bytes as JSON in ASCII; empty"
            " where it is absent",
            "example": {"note": "An example of a note"},
        },
    )


def _position(least: int, description: str | None = None) -> fields.Integer:
    """A place on the grid: required, or optional with a `description` of what happens then."""
    bounds: dict[str, Any] = {"minimum": least, "maximum": MAX_POSITION}
    if description is None:
        return fields.Integer(required=True, strict=True, metadata=bounds)
    metadata = {**bounds, "description": description}
    return fields.Integer(load_default=None, allow_none=True, strict=True, metadata=metadata)


class DashboardBody(Body):
    """A dashboard as a whole, without its tiles."""

    name = name_field(MAX_NAME_LENGTH)
    description = description_field(MAX_DESCRIPTION_LENGTH)
    definition = _opaque("what a client wants to know about the dashboard", MAX_DEFINITION_BYTES)


class TileBody(Body):
    """A tile as a whole; a place that is absent is below the others, or the one that it has."""

    query_id = fields.String(
        required=True,
        metadata={
            "format": "uuid",
            "description": "the saved query that it shows",
            "x-refers-to": "/v1/queries",
        },
    )
    title = fields.String(
        load_default=None,
        allow_none=True,
        metadata={
            "maxLength": MAX_TITLE_LENGTH,
            "description": "blanks around it are cut off; empty where it is absent",
            "example": "An example of a title",
        },
    )
    chart_type = fields.String(required=True, metadata={"enum": list(CHART_TYPES)})
    chart_config = _opaque("how a client draws it", MAX_CHART_CONFIG_BYTES)
    param_bindings = _opaque("what the query's parameters are bound to", MAX_PARAM_BINDINGS_BYTES)
    pos_x = _position(0, "column from the left; 0 for a new tile")
    pos_y = _position(0, "row from the top; below the others for a new tile")
    pos_w = _position(1, f"width in columns; {DEFAULT_WIDTH} for a new tile")
    pos_h = _position(1, f"height in rows; {DEFAULT_HEIGHT} for a new tile")


class PlaceBody(Body):
    """Where a tile goes."""

    id = fields.String(required=True, metadata={"format": "uuid"})
    pos_x = _position(0)
    pos_y = _position(0)
    pos_w = _position(1)
    pos_h = _position(1)


class LayoutBody(Body):
    """Where tiles go; those that are not named stay where they are."""

    tiles = fields.List(fields.Nested(PlaceBody), required=True)


class TileRow(Schema):
    """A saved query drawn on a dashboard."""

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
        required=True, metadata={"description": "when anything but its tiles changed last"}
    )


class DashboardDetail(DashboardRow):
    """A dashboard with its tiles, top to bottom, left to right."""

    tiles = fields.List(fields.Nested(TileRow), required=True)


class DashboardList(Schema):
    """The organization's dashboards, newest first."""

    dashboards = fields.List(fields.Nested(DashboardRow), required=True)


class LaidOut(Schema):
    """What a layout came to."""

    updated = fields.Integer(required=True, metadata={"description": "tiles that were named"})


class DeletedDashboard(Schema):
    """The dashboard is gone, or the tile."""

    ok = fields.Boolean(required=True)
