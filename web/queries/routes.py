"""Saved queries: list, create, replace and delete them."""

from typing import Any

from shared.reading.dashboards.service import delete_query as delete_unless_shown
from shared.reading.queries import service as queries
from shared.reading.queries.models import SavedQuery
from shared.reading.queries.service import QueryContent
from web.auth import current_identity, requires
from web.blueprint import Blueprint
from web.queries.run import add_run
from web.queries.schemas import DeletedQuery, QueryBody, QueryList, QueryRow
from web.state import published_schema
from web.transaction import Tx, in_transaction

blueprint = Blueprint(
    "queries", "Read-only SQL over events, sessions and evaluations, saved or run at once"
)
add_run(blueprint)


@blueprint.route("/queries")
@requires("queries:read")
@blueprint.response(200, QueryList)
@in_transaction
def list_queries(tx: Tx) -> dict[str, list[SavedQuery]]:
    """List the organization's saved queries by name, in the order of code points."""
    return {"queries": queries.list_(*tx)}


@blueprint.route("/queries", methods=["POST"])
@requires("queries:write")
@blueprint.arguments(QueryBody)
@blueprint.response(201, QueryRow, errors=(409,))
@in_transaction
def create_query(tx: Tx, body: dict[str, Any]) -> SavedQuery:
    """Save a query that would be allowed to run, without running it.

    A statement that `/queries/run` would refuse is refused here too, with the reason under
    `sql_text`. An organization has at most 2000 saved queries with at most 16 MiB in total.
    """
    author = current_identity().name
    return queries.create(*tx, _content(body), schema=published_schema(), created_by=author)


@blueprint.route("/queries/<query_id>")
@requires("queries:read")
@blueprint.response(200, QueryRow)
@in_transaction
def get_query(tx: Tx, query_id: str) -> SavedQuery:
    """Read one saved query."""
    return queries.get(*tx, query_id)


@blueprint.route("/queries/<query_id>", methods=["PUT"])
@requires("queries:write")
@blueprint.arguments(QueryBody)
@blueprint.response(200, QueryRow, errors=(409,))
@in_transaction
def replace_query(tx: Tx, body: dict[str, Any], query_id: str) -> SavedQuery:
    """Replace a saved query as a whole, for all its tiles. It is checked like a new one."""
    return queries.replace(*tx, query_id, _content(body), schema=published_schema())


@blueprint.route("/queries/<query_id>", methods=["DELETE"])
@requires("queries:delete")
@blueprint.response(200, DeletedQuery, errors=(409,))
@in_transaction
def delete_query(tx: Tx, query_id: str) -> dict[str, bool]:
    """Delete a saved query for good. A query that a tile shows is refused."""
    delete_unless_shown(*tx, query_id)
    return {"ok": True}


def _content(body: dict[str, Any]) -> QueryContent:
    return QueryContent(
        name=body["name"],
        description=body["description"] or "",
        sql_text=body["sql_text"],
        params=body["params"] or [],
    )
