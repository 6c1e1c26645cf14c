"""The facet routes of events, one for each row of `FACETS`."""

from collections.abc import Callable

from flask import Response

from shared.reading.events.facets import FACETS, facet_values
from web.auth import current_identity, requires_any
from web.blueprint import Blueprint
from web.responses import json_response
from web.state import runtime

# Pages of evaluations offer these as filters too.
_FOR_EVALUATIONS = frozenset({"environments", "models", "agent_ids"})

_STRINGS = {"type": "array", "items": {"type": "string"}, "maxItems": 500}


def add_facets(blueprint: Blueprint) -> None:
    """Adds a route for each facet."""
    for name, facet in FACETS.items():
        more = ("evaluations:read",) if name in _FOR_EVALUATIONS else ()
        view = _view(name, facet.about)
        view = blueprint.response(200, _STRINGS, errors=(504,))(view)
        view = requires_any("events:read", *more)(view)
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
