"""The route of the outline of a session."""

from typing import Any

from flask import Response

from shared.reading.events.outline.outline import outline
from shared.reading.events.outline.query import outline_query
from shared.reading.events.statement import of_session
from web.auth import current_identity, requires
from web.blueprint import Blueprint
from web.compression import compressed
from web.responses import json_response
from web.sessions.outline_schemas import Outline, OutlineQuerySchema
from web.state import runtime

_ENCODING = {"type": "string", "enum": ["gzip", "identity"]}


def add_outline(blueprint: Blueprint) -> None:
    """Adds the route."""

    @blueprint.route("/sessions/<any_id:session_id>/outline")
    @requires("events:read")
    @blueprint.arguments(OutlineQuerySchema, location="query")
    @blueprint.header("Accept-Encoding", schema=_ENCODING)
    @blueprint.response(200, Outline, errors=(504,), or_sql=of_session)
    def read_outline(query: dict[str, Any], session_id: str) -> Response:
        """Return the events of a session without payloads, in columns, oldest first.

        `cursor`, `around` and `since` exclude each other. With `since` come the events that arrived
        after an earlier answer, at most `limit`: if there are so many, ask again at once. Some
        events may come twice; their ids tell. The answer is compressed if the client accepts gzip.
        """
        wanted = outline_query(**query)
        found = outline(runtime(), current_identity().org_id, session_id, wanted)
        return compressed(json_response(found))
