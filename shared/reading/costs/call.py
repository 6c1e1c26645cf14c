"""What one call costs, as it is stored, and the parts of that."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from shared.foundation.core.errors import Unavailable
from shared.foundation.deployment.runtime import Runtime
from shared.reading.prices import service as prices
from shared.reading.prices.builtin import builtin_prices
from shared.reading.prices.cost import PLACES, CallUsage, CostLine, cost_of, lines_of
from shared.reading.prices.price import Price

_USAGE = (
    *("model", "provider", "service_tier", "ts", "input_tokens", "output_tokens"),
    *("cache_read_tokens", "cache_write_tokens", "cache_write_1h_tokens", "audio_input_tokens"),
    *("audio_output_tokens", "reasoning_tokens", "web_searches"),
)
_STORED = ("cost_usd", "cost_source", "unpriced_reason", "reported_usd", "computed_usd")
# The columns of an event that a call's cost is read from; `ts` in microseconds.
COLUMNS = (*_USAGE, *_STORED, "cost_notes", "price_id")


class CostOfEvent(NamedTuple):
    """The cost of a call as it is stored; dollars are numbers.

    `price` is the one that it was computed with, None if that does not hold for the call any more.
    `lines` are empty if the price has changed since.
    """

    cost_usd: float | None
    cost_source: str
    unpriced_reason: str | None
    reported_usd: float | None
    computed_usd: float | None
    lines: list[CostLine]
    notes: list[str]
    price: Price | None


def stored_cost(runtime: Runtime, org_id: UUID, event: Mapping[str, Any]) -> CostOfEvent | None:
    """Returns the cost of an event, given its `COLUMNS`; None if it is no call.

    While PostgreSQL is away, the cost has neither a price nor lines.
    """
    if event["cost_source"] is None:
        return None
    price, lines = _parts(runtime, org_id, event)
    return CostOfEvent(
        **{name: _number(event[name]) for name in _STORED},
        lines=lines,
        notes=event["cost_notes"],
        price=price,
    )


def _parts(
    runtime: Runtime, org_id: UUID, event: Mapping[str, Any]
) -> tuple[Price | None, list[CostLine]]:
    """Returns the price of a call and its lines, if the price is still the one that it had."""
    if event["price_id"] is None:
        return None, []
    usage = CallUsage(**{name: event[name] for name in _USAGE})
    builtin = builtin_prices(runtime.settings.model_prices_file)
    try:
        with runtime.postgres.transaction() as session:
            book = prices.prices_of(session, [org_id], builtin)[org_id]
    except Unavailable:
        # The event itself is in ClickHouse.
        return None, []
    holding = book.holding(usage.model, usage.provider, usage.service_tier, usage.ts)
    if holding is None or holding.price.id != event["price_id"]:
        return None, []
    of_call = holding.of_day.at(usage.ts)
    is_same = cost_of(usage, of_call).computed == _units(event["computed_usd"])
    return holding.price, lines_of(usage, of_call) if is_same else []


def _units(amount: Decimal | None) -> int | None:
    return None if amount is None else int(amount.scaleb(PLACES))


def _number(value: object) -> Any:
    return float(value) if isinstance(value, Decimal) else value
