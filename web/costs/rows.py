"""Costs as JSON."""

from typing import Any

from shared.reading.costs.call import CostOfEvent
from web.costs import schemas
from web.prices.schemas import price_row

_row = schemas.StoredCost()


def stored_cost_row(cost: CostOfEvent | None) -> dict[str, Any] | None:
    """Returns the row of a call's cost, null for what is no call."""
    if cost is None:
        return None
    price = None if cost.price is None else price_row(cost.price)
    found: dict[str, Any] = _row.dump({**cost._asdict(), "price": price})
    return found
