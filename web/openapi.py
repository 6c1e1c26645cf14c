"""The OpenAPI document at /v1/openapi.json, made when a process is first asked for it.

Making it takes half a second and 20 MB, and most processes are never asked.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import flask_smorest
from flask import Flask, Response, current_app

from web import api_page, params, paths, shapes
from web.auth import KEY_SCHEME, SESSION_SCHEME, public
from web.blueprint import Blueprint
from web.errors import ErrorBody
from web.responses import json_response, raw_json_response
from web.rule import RouteRule
from web.session_cookie import COOKIE

# Of the API as clients know it. Watchpost's own version is in `shared.foundation.core.version`.
VERSION = "0.0.1-beta.77"
DOCUMENT_URL = "/v1/openapi.json"

_DOCUMENT = "openapi_document"


class Api(flask_smorest.Api):  # type: ignore[misc] # flask-smorest is untyped
    """Collects the documentation of the blueprints."""

    ERROR_SCHEMA = ErrorBody

    def _register_error_handlers(self) -> None:
        """Does nothing: `web.errors` registers the handlers."""

    def _register_pagination_header(self) -> None:
        """Leaves flask-smorest's paging out of the document: our lists have cursors."""


blueprint = Blueprint("openapi", "This description")


@blueprint.route("/openapi.json")
@public
@blueprint.response(200, {"type": "object"}, description="This document")
def openapi_document() -> Response:
    """Returns the OpenAPI 3.1 document of this service."""
    encoded: Callable[[], bytes] = current_app.extensions[_DOCUMENT]
    return raw_json_response(encoded())


def publish(app: Flask, blueprints: tuple[Blueprint, ...]) -> None:
    """Adds the routes of `blueprints`, their document, and the page that shows it."""
    app.url_map.converters.update(any_id=paths.AnyId, event_id=paths.EventId)
    for one in blueprints:
        app.register_blueprint(one)
    app.extensions[_DOCUMENT] = lambda: _document_of(blueprints)
    api_page.publish(app, DOCUMENT_URL)


@cache
def _document_of(blueprints: tuple[Blueprint, ...]) -> bytes:
    """Returns the document, which an application of its own describes, as JSON."""
    app = Flask("document", static_folder=None)
    app.url_rule_class = RouteRule
    app.json.sort_keys = False  # type: ignore[attr-defined] # keep the schema's order
    app.url_map.converters.update(any_id=paths.AnyId, event_id=paths.EventId)
    api = _api_of(app)
    for one in blueprints:
        api.register_blueprint(one)
    document = api.spec.to_dict()
    shapes.complete(document)
    with app.app_context():
        encoded: bytes = json_response(document).get_data()
    return encoded


def _api_of(app: Flask) -> Api:
    app.config.update(API_TITLE="Watchpost", API_VERSION=VERSION, OPENAPI_VERSION="3.1.0")
    api = Api(app, spec_kwargs={"info": {"description": _DESCRIPTION}})
    api.register_field(params.ListField, "string", None)
    api.register_field(params.Timestamp, "string", "date-time")
    api.ma_plugin.converter.add_attribute_function(shapes.describer(api.spec.components.schema))
    api.register_converter(paths.AnyId, _any_id_schema)
    api.register_converter(paths.EventId, _event_id_schema)
    api.spec.components.security_scheme(
        KEY_SCHEME,
        {
            "type": "http",
            "scheme": "bearer",
            "description": "`Authorization: Bearer <API key>`, or a session's token as bearer",
        },
    )
    api.spec.components.security_scheme(
        SESSION_SCHEME,
        {
            "type": "apiKey",
            "in": "cookie",
            "name": COOKIE.name,
            "description": "the session of a signed-in person",
        },
    )
    return api


def _any_id_schema(_converter: paths.AnyId) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": 256}


def _event_id_schema(_converter: paths.EventId) -> dict[str, Any]:
    return {"type": "integer", "minimum": 0, "maximum": 2**53 - 1}


_DESCRIPTION = """\
Observability for AI agents: send events, read them back, and get every finished session evaluated.

Timestamps are RFC 3339 in UTC with microseconds. Filters with several values take them
comma-separated (`\\,` is a comma inside a value). A `limit` above its cap counts as the cap.
`cursor` is the `next_cursor` of the previous page. Send a slash inside an id as `%2F`. Every
response carries `X-Request-Id`. Every error has the same shape, whatever its status.
"""
