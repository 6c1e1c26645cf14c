"""Request and response schemas of the routes of dashboards and tiles."""

from marshmallow import Schema

from shared.reading.dashboards import rules
from web import fields
from web.params import Body


def _opaque(what: str, most: int) -> fields.Field:
    return fields.mapping(
        f"{what}; stored as it is, at most {most} bytes as JSON in ASCII; empty when absent",
        optional=True,
        example={"note": "An example of a note"},
    )


def _position(least: int, about: str = "") -> fields.Field:
    """Returns a field for a grid position: required, or optional with the `about`."""
    bounds: fields.Details = {"minimum": least, "maximum": rules.MAX_POSITION}
    return fields.integer(about, optional=bool(about), strict=True, **bounds)


class DashboardBody(Body):
    """A dashboard as a whole, without its tiles."""

    name = fields.name(rules.MAX_NAME_LENGTH)
    description = fields.description(rules.MAX_DESCRIPTION_LENGTH)
    definition = _opaque("a client's own data about the dashboard", rules.MAX_DEFINITION_BYTES)


class TileBody(Body):
    """A tile as a whole. Without a place a new tile goes below the others, and an old one stays."""

    query_id = fields.reference("/v1/queries", "the saved query to show")
    title = fields.text(
        "surrounding blanks are removed; empty when absent",
        optional=True,
        maxLength=rules.MAX_TITLE_LENGTH,
        example="An example of a title",
    )
    chart_type = fields.text(enum=rules.CHART_TYPES)
    chart_config = _opaque("a client's own data for drawing it", rules.MAX_CHART_CONFIG_BYTES)
    param_bindings = _opaque("the values of the query's parameters", rules.MAX_PARAM_BINDINGS_BYTES)
    pos_x = _position(0, "column from the left; 0 for a new tile")
    pos_y = _position(0, "row from the top; below the others for a new tile")
    pos_w = _position(1, f"width in columns; {rules.DEFAULT_WIDTH} for a new tile")
    pos_h = _position(1, f"height in rows; {rules.DEFAULT_HEIGHT} for a new tile")


class PlaceBody(Body):
    """The place of a tile."""

    id = fields.text(format="uuid")
    pos_x = _position(0)
    pos_y = _position(0)
    pos_w = _position(1)
    pos_h = _position(1)


class LayoutBody(Body):
    """The places of tiles. Tiles that are not listed stay in place."""

    tiles = fields.rows(PlaceBody)


class RangeBody(Body):
    """The range of time for the parameters `from` and `to`."""

    ts_from = fields.moment("by default without a bound", data_key="from", optional=True)
    ts_to = fields.moment("by default now", data_key="to", optional=True)


class TileRow(Schema):
    """A saved query on a dashboard."""

    id = fields.uuid()
    dashboard_id = fields.uuid()
    query_id = fields.uuid()
    title = fields.text()
    chart_type = fields.text(enum=rules.CHART_TYPES)
    chart_config = fields.mapping()
    param_bindings = fields.mapping()
    pos_x = fields.integer()
    pos_y = fields.integer()
    pos_w = fields.integer()
    pos_h = fields.integer()
    created_at = fields.moment()
    updated_at = fields.moment()


class TileList(Schema):
    """The tiles of a dashboard, top to bottom, left to right."""

    tiles = fields.rows(TileRow)


class DashboardRow(Schema):
    """A dashboard without its tiles."""

    id = fields.uuid()
    name = fields.text()
    description = fields.text()
    definition = fields.mapping()
    tile_count = fields.integer()
    created_by = fields.author(null=True)
    created_at = fields.moment()
    updated_at = fields.moment("last change of anything but its tiles")


class DashboardDetail(DashboardRow):
    """A dashboard with its tiles, top to bottom, left to right."""

    tiles = fields.rows(TileRow)


class DashboardList(Schema):
    """The organization's dashboards, newest first."""

    dashboards = fields.rows(DashboardRow)


class LaidOut(Schema):
    """The result of a layout."""

    updated = fields.integer("number of tiles in the request")


class DeletedDashboard(Schema):
    """A deleted dashboard or tile."""

    ok = fields.flag()
