"""The facet routes of events: one line each in a table."""

from collections.abc import Callable

from flask import Response

from shared.events.facets import facet_values
from web.auth import current_identity, requires_any
from web.blueprint import Blueprint
from web.responses import json_response
from web.state import runtime

_READ = ("events:read",)
_READ_EITHER = ("events:read", "evaluations:read")

# facet → (permissions, description)
_ROUTES: dict[str, tuple[tuple[str, ...], str]] = {
    "environments": (_READ_EITHER, "Environments of events, by name."),
    "models": (_READ_EITHER, "Models seen in events, most used first."),
    "agent_ids": (_READ_EITHER, "Agents seen in events, most active first."),
    "event_types": (_READ, "Types of events, by name."),
    "tool_names": (_READ, "Tools seen in events, most used first."),
    "hook_names": (_READ, "Hooks seen in events, most used first."),
    "error_types": (_READ, "Error types seen in events, most frequent first."),
    "trigger_events": (_READ, "Trigger events of hooks in the last 90 days, most used first."),
}

_STRINGS = {"type": "array", "items": {"type": "string"}, "maxItems": 500}


def add_facets(blueprint: Blueprint) -> None:
    """Adds a route for each facet."""
    for name, (permissions, doc) in _ROUTES.items():
        view = _view(name, doc)
        view = blueprint.response(200, _STRINGS)(view)
        view = blueprint.alt_response(504, "GATEWAY_TIMEOUT")(view)
        view = requires_any(*permissions)(view)
        blueprint.route(f"/events/{name}")(view)


def _view(name: str, doc: str) -> Callable[[], Response]:
    def read_facet() -> Response:
        values = facet_values(
            runtime().clickhouse, runtime().redis, current_identity().org_id, name
        )
        return json_response(values)

    read_facet.__name__ = f"list_{name}"
    read_facet.__doc__ = f"{doc}\n\nAt most 500. The list is up to a minute old."
    return read_facet
