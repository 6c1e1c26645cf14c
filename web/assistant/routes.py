"""The assistant: a question begins a turn, whose frames come back as server-sent events."""

from typing import Any

from flask import Response, request

from shared.access.settings.reading import value as setting
from shared.assistant import turns
from shared.assistant.frames import BEGINNING, FrameId, Frames
from shared.assistant.limits import MAX_REQUEST_BYTES
from shared.assistant.request import read_request
from shared.foundation.core.errors import Conflict, Invalid, NotFound
from web.assistant import schemas
from web.assistant.relay import relay
from web.auth import (
    access_while_answering,
    current_org_id,
    current_user,
    public,
    require_access_still,
    requires_person,
    signed_in_person,
)
from web.blueprint import Blueprint
from web.body import read_body
from web.disconnect import client_watch
from web.responses import json_response
from web.state import runtime

blueprint = Blueprint("assistant", "Questions about the organization's data")

_STREAM = "text/event-stream"
# Pieces of an answer come much more often than access changes.
_CHECK_SECS = 1.0
_BODY = {"required": True, "content": {"application/json": {"schema": schemas.TurnBody}}}
_FRAMES = "server-sent events, each with an `id` and a frame; the last is done or error"
_ID = {"type": "string"}


@blueprint.route("/agent/health")
@public
@blueprint.response(200, schemas.AssistantHealth)
@blueprint.alt_response(401, "UNAUTHORIZED")
def assistant_health() -> Response:
    """Return whether there is an assistant, and its models. Any signed-in person may ask."""
    signed_in_person()
    models = list(runtime().settings.assistant_choices)
    first = models[0] if models else None
    return json_response(
        {
            "enabled": bool(models),
            "llm_configured": bool(models),
            "model": first,
            "models": models,
            "default_model": first,
        }
    )


@blueprint.route("/agent/chat", methods=["POST"])
@requires_person("agent:use")
@blueprint.doc(requestBody=_BODY)
@blueprint.header("Last-Event-ID", schema=_ID)
@blueprint.response(
    200, schemas.TurnFrame, content_type=_STREAM, description=_FRAMES, errors=(409, 429)
)
@blueprint.reads_body
@blueprint.alt_response(422, "UNPROCESSABLE_ENTITY")
def ask_assistant() -> Response:
    """Ask a question, and read the answer while it is written.

    A client that was cut off sends the same request with the `Last-Event-ID` of the last frame
    that it has, within 10 s, and goes on where it was. Without a client the turn is cancelled. At
    most two turns of a person and eight of the deployment run at once.
    """
    if not runtime().settings.assistant_choices:
        raise Conflict(
            "this deployment has no assistant: set ASSISTANT_BASE_URL",
            code="assistant_not_configured",
        )
    seen = request.headers.get("Last-Event-ID")
    frame = _begun() if seen is None else _seen(seen)
    frames = Frames(runtime().redis, frame.turn_id)
    frames.watch()
    events = relay(frames, frame, client_watch(), access_while_answering(_CHECK_SECS))
    response = Response(events, content_type=_STREAM)
    # Proxies must not collect the frames.
    response.headers["X-Accel-Buffering"] = "no"
    return response


def _begun() -> FrameId:
    body = read_body(MAX_REQUEST_BYTES)
    require_access_still()
    wanted = read_request(body)
    settings = runtime().settings
    model = wanted.model or settings.assistant_choices[0]
    if model not in settings.assistant_choices:
        raise Invalid.field("model", f"must be one of {', '.join(settings.assistant_choices)}")
    with runtime().postgres.transaction() as session:
        daily: Any = setting(session, settings, current_org_id(), "assistant.daily_tokens")
        turn_id = turns.begin(
            session,
            runtime().queue,
            current_org_id(),
            current_user().id,
            model=model,
            request=body,
            daily_tokens=daily,
        )
    return FrameId(turn_id, BEGINNING)


def _seen(text: str) -> FrameId:
    """Returns the frame that a client has; raises `NotFound` for a turn of somebody else."""
    frame = FrameId.parse(text)
    with runtime().postgres.transaction() as session:
        owner = frame and turns.owner_of(session, current_org_id(), frame.turn_id)
    if frame is None or owner != current_user().id:
        raise NotFound("there is no such turn of yours: ask again")
    return frame
