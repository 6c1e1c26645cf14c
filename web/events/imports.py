"""The route that imports files of other programs."""

from datetime import datetime
from typing import Any

from flask import Response, request

from shared.foundation.core.clock import to_us
from shared.foundation.core.errors import UnsupportedMediaType
from shared.intake.imports.dimensions import GivenDimensions
from shared.intake.imports.service import ImportOptions
from web.auth import require_access_still, requires
from web.blueprint import Blueprint
from web.body import read_body
from web.events.import_schemas import Imported, ImportQuery
from web.responses import json_response
from web.sender import sender_by
from web.state import runtime, state

_MEDIA_TYPE = "application/octet-stream"
_FILE = {
    "required": True,
    "content": {
        _MEDIA_TYPE: {
            "schema": {"type": "string", "format": "binary", "description": "plain or gzip"}
        }
    },
}


def add_imports(blueprint: Blueprint) -> None:
    """Adds the route."""

    @blueprint.route("/events/import", methods=["POST"])
    @requires("events:add")
    @blueprint.arguments(ImportQuery, location="query")
    @blueprint.doc(requestBody=_FILE)
    @blueprint.response(200, Imported, errors=(504,))
    @blueprint.reads_body
    @blueprint.alt_response(422, "UNPROCESSABLE_ENTITY")
    def import_file(query: dict[str, Any]) -> Response:
        """Import a file: events, or the transcript of an agent.

        200 means that the accepted events are on disk and will be stored; 503 and 504 mean that
        none was accepted. The same file may be sent again, also after it grew: only what is new is
        accepted. A session that has events from elsewhere is left alone as a whole, except for
        files in the form of POST /events.
        """
        body = read_body(runtime().settings.ingest_max_body_bytes)
        # Check access again: permissions or redaction may have changed while a slow body arrived.
        require_access_still()
        if body and request.mimetype != _MEDIA_TYPE:
            raise UnsupportedMediaType(
                f"Content-Type must be {_MEDIA_TYPE}", code="unsupported_content_type"
            )
        return json_response(state().imports.run(sender_by("import"), body, _wanted(**query)))


def _wanted(
    *,
    format_: str,
    path: str,
    environment: str,
    dry_run: bool,
    replace: bool,
    existing_before: int | None,
    started_at: datetime | None,
    user_id: str | None,
    agent_version: str | None,
    tags: list[str],
    attributes: dict[str, str],
) -> ImportOptions:
    started_us = None if started_at is None else to_us(started_at)
    given = GivenDimensions(user_id, agent_version, tuple(tags), attributes)
    return ImportOptions(
        format_, path, environment, dry_run, existing_before, started_us, given, replace
    )
