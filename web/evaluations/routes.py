"""Evaluation results, and the values of their filters."""

from flask import Response

from shared.foundation.core.cursor import Page
from shared.reading.evaluations import facets
from shared.reading.evaluations.aggregate.compute import aggregate, buckets_of
from shared.reading.evaluations.aggregate.selectors import Selector
from shared.reading.evaluations.filters import EvaluationFilters
from shared.reading.evaluations.listing import page
from shared.reading.evaluations.lowest import lowest as read_lowest
from shared.reading.evaluations.statement import listed, over_time
from shared.reading.sessions.staleness import stale_among
from web.auth import current_identity, requires
from web.blueprint import Blueprint
from web.evaluations.aggregate import AggregateQuery, EvaluationAggregate, aggregate_body
from web.evaluations.rows import evaluation_row
from web.evaluations.schemas import EvaluationPage, EvaluationQuery, MetricKey
from web.responses import json_response
from web.state import runtime

blueprint = Blueprint("evaluations", "Results of the evaluator")

_STRINGS = {"type": "array", "items": {"type": "string"}}


def _over_time(*, filters: EvaluationFilters, bucket: str, **_: object) -> str:
    org_id = current_identity().org_id
    return over_time(filters, buckets_of(runtime().clickhouse, org_id, filters, bucket))


@blueprint.route("/evaluations")
@requires("evaluations:read")
@blueprint.arguments(EvaluationQuery, location="query", as_kwargs=True)
@blueprint.response(200, EvaluationPage, errors=(504,), or_sql=listed)
def list_evaluations(
    filters: EvaluationFilters, lowest: str | None, cursor: str | None, limit: int
) -> Response:
    """List results, newest first, or those with the lowest scores under one key.

    A session that was evaluated again has several results. A page of results with much reasoning
    ends before `limit`, at 32 MiB.
    """
    clickhouse, org_id = runtime().clickhouse, current_identity().org_id
    if lowest is None:
        found = page(clickhouse, org_id, filters, limit=limit, cursor=cursor)
    else:
        found = Page(read_lowest(clickhouse, org_id, filters, lowest, limit=limit), None)
    stale = stale_among(clickhouse, org_id, found.rows)
    rows = [evaluation_row(one, stale=one.evaluation_id in stale) for one in found.rows]
    return json_response({"evaluations": rows, "next_cursor": found.next_cursor})


@blueprint.route("/evaluations/aggregate")
@requires("evaluations:read")
@blueprint.arguments(AggregateQuery, location="query", as_kwargs=True)
@blueprint.response(200, EvaluationAggregate, errors=(504,), or_sql=_over_time)
def aggregate_evaluations(
    filters: EvaluationFilters,
    featured_keys: list[str],
    bucket: str,
    series: tuple[Selector, ...],
    histogram: int | None,
) -> Response:
    """Aggregate all matching results exactly.

    With `time=session` a result counts at the last event of its session instead of at its
    completion. Buckets begin at full units of UTC, weeks on Monday. All buckets from `ts_from` to
    `ts_to` are listed. Without one of these bounds, the list starts at the first or ends at the
    last matching result. The first and the last bucket hold only the results within the bounds.
    `avg` and `stddev` are those of the population. Medians and percentiles are interpolated.
    """
    found = aggregate(
        runtime().clickhouse,
        current_identity().org_id,
        filters,
        bucket=bucket,
        featured_keys=featured_keys,
        series=series,
        histogram=histogram,
    )
    return json_response(aggregate_body(found))


@blueprint.route("/evaluations/environments")
@requires("evaluations:read")
@blueprint.response(200, _STRINGS, errors=(504,))
def list_evaluation_environments() -> Response:
    """List the environments that have results, by name."""
    return json_response(facets.environments(runtime().clickhouse, current_identity().org_id))


@blueprint.route("/evaluations/score_keys")
@requires("evaluations:read")
@blueprint.response(200, _STRINGS, errors=(504,))
def list_score_keys() -> Response:
    """List the keys of scores, by name."""
    return json_response(facets.score_keys(runtime().clickhouse, current_identity().org_id))


@blueprint.route("/evaluations/metric_keys")
@requires("evaluations:read")
@blueprint.response(200, MetricKey(many=True))
def list_metric_keys() -> Response:
    """List the keys of metrics. The list is empty, because evaluators return no metrics yet."""
    return json_response([])
