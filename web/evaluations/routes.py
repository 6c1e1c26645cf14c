"""Evaluation results and the values to filter them by."""

from flask import Response

from shared.evaluations import facets
from shared.evaluations.listing import EvaluationFilter, page
from web.auth import current_identity, requires
from web.blueprint import Blueprint
from web.evaluations.rows import evaluation_row
from web.evaluations.schemas import EvaluationPage, EvaluationQuery, MetricKey
from web.responses import json_response
from web.state import runtime

blueprint = Blueprint("evaluations", "What the evaluator made of sessions")

_STRINGS = {"type": "array", "items": {"type": "string"}}


@blueprint.route("/evaluations")
@requires("evaluations:read")
@blueprint.arguments(EvaluationQuery, location="query", as_kwargs=True)
@blueprint.response(200, EvaluationPage)
@blueprint.alt_response(504, "GATEWAY_TIMEOUT")
def list_evaluations(wanted: EvaluationFilter, cursor: str | None, limit: int) -> Response:
    """List results, newest first.

    A session that was evaluated again has several.
    """
    found = page(
        runtime().clickhouse, current_identity().org_id, wanted, limit=limit, cursor=cursor
    )
    rows = [evaluation_row(record) for record in found.evaluations]
    return json_response({"evaluations": rows, "next_cursor": found.next_cursor})


@blueprint.route("/evaluations/environments")
@requires("evaluations:read")
@blueprint.response(200, _STRINGS)
@blueprint.alt_response(504, "GATEWAY_TIMEOUT")
def list_evaluation_environments() -> Response:
    """Environments that have results, by name."""
    return json_response(facets.environments(runtime().clickhouse, current_identity().org_id))


@blueprint.route("/evaluations/score_keys")
@requires("evaluations:read")
@blueprint.response(200, _STRINGS)
@blueprint.alt_response(504, "GATEWAY_TIMEOUT")
def list_score_keys() -> Response:
    """Keys of scores, by name."""
    return json_response(facets.score_keys(runtime().clickhouse, current_identity().org_id))


@blueprint.route("/evaluations/metric_keys")
@requires("evaluations:read")
@blueprint.response(200, MetricKey(many=True))
def list_metric_keys() -> Response:
    """Keys of metrics; evaluators return none yet, so there are none."""
    return json_response([])
