"""Costs: sums of what calls cost, and the calls without a price."""

from typing import Any

from flask import Response

from shared.reading.costs.published import grouped
from shared.reading.costs.sums import CostQuery, sum_costs
from shared.reading.costs.unpriced import unpriced
from shared.reading.events.filters import EventFilters
from web.auth import current_identity, requires_any
from web.blueprint import Blueprint
from web.costs import schemas
from web.responses import json_response
from web.state import runtime

blueprint = Blueprint("costs", "What the calls of agents cost")


@blueprint.route("/costs")
@requires_any("events:read", "evaluations:read")
@blueprint.arguments(schemas.CostQuery, location="query", as_kwargs=True)
@blueprint.response(200, schemas.Costs, errors=(504,), or_sql=grouped)
def read_costs(group_by: list[str], **query: Any) -> Response:
    """Add up what calls cost: in total, by dimensions, and over time. At most 10 s old.

    Sums are exact, and each grouping of the same calls has the same total. An organization reads
    costs twice at once; other requests wait for 5 s, and get 429 after that. As SQL there are the
    groups alone, without the points of buckets.
    """
    asked = CostQuery(group_by=tuple(group_by), **query)
    org_id = current_identity().org_id
    return json_response(sum_costs(runtime().clickhouse, runtime().redis, org_id, asked))


@blueprint.route("/costs/unpriced")
@requires_any("events:read", "evaluations:read")
@blueprint.arguments(schemas.UnpricedQuery, location="query", as_kwargs=True)
@blueprint.response(200, schemas.UnpricedModels, errors=(504,))
def list_unpriced_models(filters: EventFilters) -> Response:
    """List the models whose calls have no price, with the reason. At most 10 s old.

    The range is that of `GET /v1/costs`, with which it shares the two places of an organization.
    """
    org_id = current_identity().org_id
    return json_response(unpriced(runtime().clickhouse, runtime().redis, org_id, filters))
