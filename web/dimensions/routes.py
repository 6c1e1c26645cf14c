"""Dimensions: whose sessions, in which version, with which tags and attributes."""

from typing import Any

from shared.foundation.core.clock import from_us
from shared.reading.dimensions import left_out
from shared.reading.dimensions.completeness import complete_since
from shared.reading.dimensions.overview import overview
from shared.reading.sessions.dimension_values import values_of
from shared.reading.sessions.selection import SessionFilters
from web.auth import current_identity, current_org_id, requires_any
from web.blueprint import Blueprint
from web.dimensions import schemas
from web.state import runtime

blueprint = Blueprint("dimensions", "Users, versions, tags and attributes of sessions")


@blueprint.route("/dimensions")
@requires_any("events:read", "evaluations:read")
@blueprint.response(200, schemas.Dimensions, errors=(504,))
def list_dimensions() -> dict[str, Any]:
    """List the keys of attributes, and count users, versions and tags. At most 60 s old."""
    org_id = current_identity().org_id
    found = overview(runtime().clickhouse, runtime().redis, org_id)
    counts, keys = left_out.read(runtime().redis, org_id)
    return {
        "attributes": [
            {**one._asdict(), "last_seen_at": from_us(one.last_seen_at)} for one in found.attributes
        ],
        "users": found.users,
        "versions": found.versions,
        "tags": found.tags,
        "left_out": counts,
        "left_out_keys": keys,
        "complete_since": complete_since(
            runtime().postgres, runtime().clickhouse, current_org_id()
        ),
    }


@blueprint.route("/dimensions/values")
@requires_any("events:read", "evaluations:read")
@blueprint.arguments(schemas.ValuesQuery, location="query", as_kwargs=True)
@blueprint.response(200, schemas.DimensionValues, errors=(504,))
def list_dimension_values(
    filters: SessionFilters, field: str, q: str, limit: int
) -> dict[str, Any]:
    """List the values of a dimension in the sessions that the filters describe. At most 60 s old.

    Of a session up to 64 values of each dimension are remembered.
    """
    org_id = current_identity().org_id
    found = values_of(
        runtime().clickhouse, runtime().redis, org_id, field, filters, q=q, limit=limit
    )
    return {
        "field": field,
        "values": [
            {**one._asdict(), "last_seen_at": from_us(one.last_seen_at)} for one in found.values
        ],
        "truncated": found.truncated,
    }
