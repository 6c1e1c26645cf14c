"""Context windows of models: an organization's own values override the built-in table."""

from typing import Any

from flask import Response

from shared.reading.model_windows import service as model_windows
from shared.reading.model_windows.models import ModelContextWindow
from shared.reading.model_windows.service import ModelWindow
from web.auth import requires
from web.blueprint import Blueprint
from web.model_windows.schemas import ModelQuery, ResolvedWindow, WindowBody, WindowList, WindowRow
from web.responses import no_content
from web.transaction import Tx, in_transaction, in_transaction_at_once

blueprint = Blueprint("model context windows", "Number of tokens that a model can hold")

_PATH = "/settings/model-context-windows"


@blueprint.route(_PATH)
@requires("settings:read")
@blueprint.response(200, WindowList)
@in_transaction
def list_model_windows(tx: Tx) -> dict[str, Any]:
    """List the context windows that the organization set."""
    return {"model_context_windows": model_windows.list_(*tx)}


@blueprint.route(_PATH, methods=["PUT"])
@requires("settings:write")
@blueprint.arguments(WindowBody)
@blueprint.response(200, WindowRow, errors=(409,))
@in_transaction_at_once
def put_model_window(tx: Tx, body: dict[str, Any]) -> ModelContextWindow:
    """Set the context window of a model, from the next event on.

    Stored events keep their window.
    """
    return model_windows.replace(*tx, body["model_id"], body["context_window"])


@blueprint.route(_PATH, methods=["DELETE"])
@requires("settings:write")
@blueprint.arguments(ModelQuery, location="query")
@blueprint.response(204)
@in_transaction_at_once
def delete_model_window(tx: Tx, query: dict[str, Any]) -> Response:
    """Return a model to the built-in table, from the next event on."""
    model_windows.delete(*tx, query["model"])
    return no_content()


@blueprint.route(f"{_PATH}/resolve")
@requires("settings:read")
@blueprint.arguments(ModelQuery, location="query")
@blueprint.response(200, ResolvedWindow)
@in_transaction
def resolve_model_window(tx: Tx, query: dict[str, Any]) -> ModelWindow:
    """Return the context window that the next event of a model will get."""
    return model_windows.resolve(*tx, query["model"])
