"""Prices: an organization's own ones count before the built-in table."""

from typing import Any

import msgspec
from flask import Response

from shared.foundation.core.clock import now, to_us
from shared.intake.ingest.calls import usage_of
from shared.intake.ingest.fields import read_fields
from shared.reading.events.families import MODEL
from shared.reading.prices import service as prices
from shared.reading.prices.book import Holding
from shared.reading.prices.builtin import BuiltinPrices, builtin_prices
from shared.reading.prices.cost import TIER_UNKNOWN, cost_of, dollars, lines_of
from shared.reading.prices.names import tier_of
from shared.reading.prices.service import PriceContent
from web.auth import current_identity, requires
from web.blueprint import Blueprint
from web.prices import schemas
from web.prices.schemas import price_row
from web.responses import no_content
from web.state import runtime
from web.transaction import Tx, in_transaction, in_transaction_at_once

blueprint = Blueprint("prices", "Prices of models, and the cost of a call")


@blueprint.route("/prices")
@requires("settings:read")
@blueprint.arguments(schemas.PriceQuery, location="query")
@blueprint.response(200, schemas.PricePage)
@in_transaction
def list_prices(tx: Tx, query: dict[str, Any]) -> dict[str, Any]:
    """List the organization's own prices, the built-in ones, or both."""
    builtin = _builtin()
    page = prices.list_(*tx, builtin, **query)
    return {
        "prices": [price_row(one) for one in page.rows],
        "builtin": builtin.table,
        "next_cursor": page.next_cursor,
    }


@blueprint.route("/prices", methods=["POST"])
@requires("settings:write")
@blueprint.arguments(schemas.PriceBody)
@blueprint.response(201, schemas.PriceRow, errors=(409,))
@in_transaction_at_once
def create_price(tx: Tx, body: dict[str, Any]) -> dict[str, Any]:
    """Set the price of a model, from the next event on. Stored events keep their cost.

    An organization has at most 2000 prices, and one for each model, provider and `valid_from`.
    """
    author = current_identity().name
    return price_row(prices.create(*tx, _content(body), created_by=author))


@blueprint.route("/prices/<any_id:price_id>", methods=["PUT"])
@requires("settings:write")
@blueprint.arguments(schemas.PriceBody)
@blueprint.response(200, schemas.PriceRow, errors=(409,))
@in_transaction_at_once
def replace_price(tx: Tx, body: dict[str, Any], price_id: str) -> dict[str, Any]:
    """Replace a price as a whole, from the next event on. Stored events keep their cost."""
    return price_row(prices.replace(*tx, price_id, _content(body)))


@blueprint.route("/prices/<any_id:price_id>", methods=["DELETE"])
@requires("settings:write")
@blueprint.response(204)
@in_transaction_at_once
def delete_price(tx: Tx, price_id: str) -> Response:
    """Delete a price, from the next event on. Stored events keep their cost."""
    prices.delete(*tx, price_id)
    return no_content()


@blueprint.route("/prices/resolve")
@requires("settings:read")
@blueprint.arguments(schemas.ResolveQuery, location="query")
@blueprint.response(200, schemas.ResolvedPrice)
@in_transaction
def resolve_price(tx: Tx, query: dict[str, Any]) -> dict[str, Any]:
    """Return the price that calls of a model have."""
    ts = to_us(query["at"] or now())
    tier = tier_of(query["service_tier"])
    holding = _holding(tx, query["model"], query["provider"], tier, ts)
    if holding is None:
        return {"price": None, "source": "unknown", "rates": {}, "notes": []}
    price = holding.of_day.at(ts)
    return {
        "price": price_row(holding.price),
        "source": holding.price.source,
        "rates": price.at(query["input_tokens"]).in_dollars(price.scale),
        "notes": [TIER_UNKNOWN] if price.is_tier_unknown else [],
    }


@blueprint.route("/prices/quote", methods=["POST"])
@requires("settings:read")
@blueprint.arguments(schemas.QuoteBody)
@blueprint.response(200, schemas.Quote)
@in_transaction
def quote_price(tx: Tx, body: dict[str, Any]) -> dict[str, Any]:
    """Return the cost that an event would have if it were sent now."""
    moment = body.pop("timestamp") or now()
    given = {name: value for name, value in body.items() if value is not None}
    usage = usage_of(MODEL.end, read_fields(msgspec.json.encode(given)), to_us(moment))
    holding = _holding(tx, usage.model, usage.provider, usage.service_tier, usage.ts)
    price = None if holding is None else holding.of_day.at(usage.ts)
    cost = cost_of(usage, price)
    return {
        "cost_usd": dollars(cost.cost),
        "cost_source": cost.source,
        "unpriced_reason": cost.unpriced_reason,
        "lines": lines_of(usage, price),
        "notes": cost.notes,
        "price": None if holding is None else price_row(holding.price),
    }


def _builtin() -> BuiltinPrices:
    return builtin_prices(runtime().settings.model_prices_file)


def _holding(
    tx: Tx, model: str | None, provider: str | None, tier: str | None, ts: int
) -> Holding | None:
    book = prices.prices_of(tx.session, [tx.org_id], _builtin())[tx.org_id]
    return book.holding(model, provider, tier, ts)


def _content(body: dict[str, Any]) -> PriceContent:
    return PriceContent(**{**body, "note": body["note"] or ""})
