"""Evaluation results and the values to filter them by."""

from flask import Response

from shared.evaluations import facets
from shared.evaluations.aggregate import Selector, aggregate
from shared.evaluations.filters import EvaluationFilter
from shared.evaluations.listing import page
from web.auth import current_identity, requires
from web.blueprint import Blueprint
from web.evaluations.aggregate import AggregateQuery, EvaluationAggregate, aggregate_body
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

    A session that was evaluated again has several. A page of results with much reasoning ends
    before `limit`, at 32 MiB.
    """
    found = page(
        runtime().clickhouse, current_identity().org_id, wanted, limit=limit, cursor=cursor
    )
    rows = [evaluation_row(record) for record in found.evaluations]
    return json_response({"evaluations": rows, "next_cursor": found.next_cursor})


@blueprint.route("/evaluations/aggregate")
@requires("evaluations:read")
@blueprint.arguments(AggregateQuery, location="query", as_kwargs=True)
@blueprint.response(200, EvaluationAggregate)
@blueprint.alt_response(504, "GATEWAY_TIMEOUT")
def aggregate_evaluations(
    wanted: EvaluationFilter,
    featured_keys: list[str],
    bucket: str,
    series: tuple[Selector, ...],
) -> Response:
    """Add up the results that match, exactly.

    Buckets begin at full units of UTC, weeks on Monday. All of them are listed from `ts_from` to
    `ts_to`, and where one of these is not given from the first or to the last result that matches;
    the ones at the ends hold only what lies in that range. `avg` and `stddev` are of the
    population, medians and percentiles are interpolated.
    """
    found = aggregate(
        runtime().clickhouse,
        current_identity().org_id,
        wanted,
        bucket=bucket,
        featured_keys=featured_keys,
        series=series,
    )
    return json_response(aggregate_body(found))


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
