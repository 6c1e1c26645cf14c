"""The rules for dashboards and tiles."""

from dataclasses import dataclass, fields
from typing import Any

from shared.foundation.core import bounds
from shared.foundation.core.errors import Invalid
from shared.foundation.postgres.room import Room

CHART_TYPES = ("line", "area", "bar", "stacked_bar", "pie", "kpi", "table")

MAX_NAME_LENGTH = 200
MAX_DESCRIPTION_LENGTH = 10_000
MAX_DEFINITION_BYTES = 256 * 1024
# All dashboards of an organization are listed without pages.
ROOM = Room(rows=2000, total_bytes=16 * 1024 * 1024)

MAX_TITLE_LENGTH = 200
MAX_CHART_CONFIG_BYTES = 64 * 1024
MAX_PARAM_BINDINGS_BYTES = 64 * 1024
# The tiles of a dashboard are listed without pages, and locked together.
TILE_ROOM = Room(rows=500, total_bytes=4 * 1024 * 1024)

# The sum of two still fits into a 32-bit integer.
MAX_POSITION = 1_000_000
DEFAULT_WIDTH, DEFAULT_HEIGHT = 6, 4


@dataclass(frozen=True)
class DashboardContent:
    """The part of a dashboard that people decide."""

    name: str
    description: str
    definition: dict[str, Any]


@dataclass(frozen=True)
class TilePlace:
    """The place of a tile on the grid, in cells from the top left."""

    pos_x: int
    pos_y: int
    pos_w: int
    pos_h: int


@dataclass(frozen=True)
class TileContent:
    """The part of a tile that people decide.

    The service fills in parts of `place` that are None.
    """

    query_id: str
    title: str
    chart_type: str
    chart_config: dict[str, Any]
    param_bindings: dict[str, Any]
    place: dict[str, int | None]


def checked_dashboard(wanted: DashboardContent) -> tuple[dict[str, Any], int]:
    """Returns the columns and their total size in bytes; raises `Invalid` naming the field."""
    name = bounds.require_name("name", wanted.name, most=MAX_NAME_LENGTH)
    description = bounds.require_text(
        "description", wanted.description, most=MAX_DESCRIPTION_LENGTH
    )
    size = bounds.require_opaque("definition", wanted.definition, most=MAX_DEFINITION_BYTES)
    columns = {"name": name, "description": description, "definition": wanted.definition}
    return columns, size + len(f"{name}{description}".encode())


def checked_tile(wanted: TileContent) -> tuple[dict[str, Any], int]:
    """Does the same as `checked_dashboard` for a tile, without the query and the place."""
    title = bounds.require_line("title", wanted.title, most=MAX_TITLE_LENGTH)
    bounds.require_one_of("chart_type", wanted.chart_type, CHART_TYPES)
    size = bounds.require_opaque("chart_config", wanted.chart_config, most=MAX_CHART_CONFIG_BYTES)
    size += bounds.require_opaque(
        "param_bindings", wanted.param_bindings, most=MAX_PARAM_BINDINGS_BYTES
    )
    columns = {
        "title": title,
        "chart_type": wanted.chart_type,
        "chart_config": wanted.chart_config,
        "param_bindings": wanted.param_bindings,
    }
    return columns, size


def place_errors(place: TilePlace, path: str = "") -> dict[str, list[str]]:
    """Returns the errors of a place, by field below `path`."""
    bad = {}
    for field in fields(place):
        least = 1 if field.name in ("pos_w", "pos_h") else 0
        if not least <= getattr(place, field.name) <= MAX_POSITION:
            bad[path + field.name] = [f"must be from {least} to {MAX_POSITION}"]
    return bad


def require_place(place: TilePlace) -> TilePlace:
    """Returns the place; raises `Invalid` naming each bad field."""
    bad = place_errors(place)
    if bad:
        raise Invalid("the tile cannot be placed there", fields=bad)
    return place
