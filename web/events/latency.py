"""The routes that aggregate events: latencies of pairs, and errors over time."""

from typing import Any

from flask import Response

from shared.reading.events.error_summary import error_groups, error_summary
from shared.reading.events.filters import EventFilters
from shared.reading.events.latency import Band, latency_aggregate, latency_calls, latency_query
from shared.reading.events.latency.statement import measured
from shared.reading.events.statement import failures
from web.auth import current_identity, requires
from web.blueprint import Blueprint
from web.events.latency_schemas import (
    ErrorSummary,
    ErrorSummaryQuery,
    LatencyAggregate,
    LatencyAggregateQuery,
    LatencyCalls,
    LatencyCallsQuery,
)
from web.responses import json_response
from web.state import runtime


def _measured(**query: Any) -> str:
    return measured(latency_query(**query))


def add_latency(blueprint: Blueprint) -> None:
    """Adds the routes."""

    @blueprint.route("/events/latency_aggregate")
    @requires("events:read")
    @blueprint.arguments(LatencyAggregateQuery, location="query")
    @blueprint.response(200, LatencyAggregate, errors=(504,), or_sql=_measured)
    def aggregate_latencies(query: dict[str, Any]) -> Response:
        """Aggregate the latencies of pairs of events, such as tool calls and their results.

        A pair is a start and a close of one session with the same key. Where neither has a key, the
        next close in order belongs to the start. The latency is the closing event's `duration_ms`,
        else the time between the two, in milliseconds. A pair counts at its start: the start lies
        in the range, and the close may follow up to 24 hours later. A filter holds for a pair if it
        holds for one of its two events, so `tool_name` may match one and `error_type` the other.
        """
        wanted = latency_query(**query)
        return json_response(
            latency_aggregate(runtime().clickhouse, current_identity().org_id, wanted)
        )

    @blueprint.route("/events/latency_calls")
    @requires("events:read")
    @blueprint.arguments(LatencyCallsQuery, location="query")
    @blueprint.response(200, LatencyCalls, errors=(504,))
    def list_calls(query: dict[str, Any]) -> Response:
        """List the longest pairs of the latency aggregate, such as calls of tools.

        The parameters choose pairs as those of the aggregate do. With `latency_from` and
        `latency_to` they are those of a band of the heat map.
        """
        band = Band(query.pop("latency_from"), query.pop("latency_to"))
        limit = query.pop("limit")
        wanted = latency_query(**query, bin_count=1, payload_sum_paths=[])
        found = latency_calls(
            runtime().clickhouse, current_identity().org_id, wanted, band, limit=limit
        )
        return json_response(found)

    @blueprint.route("/events/error_summary")
    @requires("events:read")
    @blueprint.arguments(ErrorSummaryQuery, location="query", as_kwargs=True)
    @blueprint.response(200, ErrorSummary, errors=(504,), or_sql=failures)
    def summarise_errors(filters: EventFilters, group_by: str | None) -> Response:
        """Count the events that report a failure, in total and in 24 equal parts of the range.

        With `group_by` they are counted by one of their values too.
        """
        clickhouse, org_id = runtime().clickhouse, current_identity().org_id
        found = error_summary(clickhouse, org_id, filters)
        if group_by is not None:
            found["groups"] = error_groups(clickhouse, org_id, filters, group_by)
        return json_response(found)
