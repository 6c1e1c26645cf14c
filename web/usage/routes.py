"""An organization's usage, by billing window."""

from typing import Any

from shared.upkeep.usage import service as usage
from web.auth import current_org_id, requires
from web.blueprint import Blueprint
from web.state import runtime
from web.usage.schemas import Usage, UsageQuery, UsageWindows

blueprint = Blueprint("usage", "Usage of an organization, in windows of 30 days")


@blueprint.route("/usage")
@requires("settings:read")
@blueprint.arguments(UsageQuery, location="query")
@blueprint.response(200, Usage, errors=(504,))
def get_usage(query: dict[str, Any]) -> usage.Usage:
    """Count the usage of a window, by default the current one. Figures are up to 60 s old."""
    return usage.usage(runtime(), current_org_id(), query["window_start"])


@blueprint.route("/usage/windows")
@requires("settings:read")
@blueprint.response(200, UsageWindows, errors=(504,))
def list_usage_windows() -> dict[str, Any]:
    """List the newest 36 windows with their events and evaluations. Figures are up to 60 s old."""
    return {"windows": usage.windows(runtime(), current_org_id())}
