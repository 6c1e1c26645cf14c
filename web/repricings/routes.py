"""Repricings: stored calls get the costs that they would have if they came now."""

from typing import Any

from shared.upkeep.repricings import service
from shared.upkeep.repricings.models import Repricing
from shared.upkeep.repricings.service import WantedRepricing
from web.auth import current_identity, requires
from web.blueprint import Blueprint
from web.repricings import schemas
from web.responses import row_of
from web.state import runtime
from web.transaction import Tx, in_transaction

blueprint = Blueprint("repricings", "Costs of stored calls, computed again")


@blueprint.route("/costs/repricings", methods=["POST"])
@requires("settings:write")
@blueprint.arguments(schemas.RepricingBody)
@blueprint.response(202, schemas.RepricingRow, errors=(409,))
@in_transaction
def request_repricing(tx: Tx, body: dict[str, Any]) -> dict[str, Any]:
    """Read usage and price of stored calls again, with the prices of its start.

    Reported costs stay. Calls that were stored before there were costs get theirs. A dry run, which
    is the default, only computes what would change.
    """
    wanted = WantedRepricing(**{**body, "dry_run": body["dry_run"] is not False})
    author = current_identity().name
    return _row(service.request(tx.session, runtime().queue, tx.org_id, wanted, author))


@blueprint.route("/costs/repricings")
@requires("settings:read")
@blueprint.arguments(schemas.RepricingQuery, location="query")
@blueprint.response(200, schemas.RepricingList)
@in_transaction
def list_repricings(tx: Tx, query: dict[str, Any]) -> dict[str, Any]:
    """List repricings, newest first."""
    return {"repricings": [_row(one) for one in service.list_(*tx, **query)]}


@blueprint.route("/costs/repricings/<repricing_id>")
@requires("settings:read")
@blueprint.response(200, schemas.RepricingRow)
@in_transaction
def read_repricing(tx: Tx, repricing_id: str) -> dict[str, Any]:
    """Read the progress of a repricing, and its result when it has ended."""
    return _row(service.get(*tx, repricing_id))


@blueprint.route("/costs/repricings/<repricing_id>/cancel", methods=["POST"])
@requires("settings:write")
@blueprint.response(200, schemas.RepricingRow, errors=(409,))
@in_transaction
def cancel_repricing(tx: Tx, repricing_id: str) -> dict[str, Any]:
    """End a repricing soon. Calls that have new costs keep them."""
    return _row(service.cancel(tx.session, runtime().queue, tx.org_id, repricing_id))


def _row(repricing: Repricing) -> dict[str, Any]:
    return row_of(
        schemas.RepricingRow,
        repricing,
        filter=service.filter_of(repricing),
        requested_at=repricing.created_at,
        progress=service.progress_of(repricing),
        result=service.result_of(repricing),
    )
