"""Budgets: what is spent of the amounts of alerts."""

from typing import Any

from shared.watch.budgets import listing
from web.auth import current_identity, requires
from web.blueprint import Blueprint
from web.budgets import schemas
from web.state import runtime

blueprint = Blueprint("budgets", "What is spent of the amounts of alerts")


@blueprint.route("/budgets")
@requires("alerts:read")
@blueprint.response(200, schemas.Budgets, errors=(504,))
def list_budgets() -> dict[str, Any]:
    """List what the budgets spent in their running periods, the highest share first.

    A budget is an alert with the trigger `budget`. The answer is at most 60 s old.
    """
    rows = listing.list_(runtime(), current_identity().org_id)
    return {"budgets": [row._asdict() for row in rows]}
