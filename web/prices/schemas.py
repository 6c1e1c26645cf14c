"""Request and response schemas of the routes of prices."""

from typing import Any, get_args

from marshmallow import Schema, validate

from shared.intake.ingest.calls import COUNTS
from shared.intake.ingest.usage import MAX_COUNT
from shared.reading.prices import service, terms
from shared.reading.prices.book import MAX_MODEL_LENGTH
from shared.reading.prices.cost import CostSource, Reason
from shared.reading.prices.names import MAX_PROVIDER_LENGTH, MAX_TIER_LENGTH
from shared.reading.prices.price import Price, Source
from web import fields
from web.params import Body, Limit
from web.responses import row_of

_MODEL: fields.Details = {"minLength": 1, "maxLength": MAX_MODEL_LENGTH}
_ABOVE: fields.Details = {"strict": True, "minimum": 0, "maximum": MAX_COUNT}
_PRICES = (
    "US dollars: of a million tokens, for web_search and request of a thousand; without a price"
    " cache_write_1h has that of cache_write, cache_read, cache_write and input_audio that of"
    " input, reasoning and output_audio that of output, and web_search and request cost nothing"
)
_ABOUT_ABOVE = "these prices count where the whole input of a call is greater"
_TIERS = "the highest tier that holds replaces prices by name, for all tokens of the call"
_VARIANTS = "the first that matches replaces prices by name, or multiplies those of tokens"
_TIME = "part of the day in UTC, such as `16:30-00:30`; the end is not part of it"


def _amount(most: int, **details: Any) -> fields.Field:
    kinds: fields.Details = {"type": ["number", "string"], "minimum": 0, "maximum": most}
    about = f"a number, or a decimal number as text, with at most {terms.MAX_DECIMALS} decimals"
    return fields.raw(about, **kinds, **details)


PricesBody = Schema.from_dict(
    {name: _amount(terms.MAX_PRICE, required=name in terms.REQUIRED) for name in terms.CLASSES},
    name="PricesBody",
)
SomePricesBody = Schema.from_dict(
    {name: _amount(terms.MAX_PRICE, required=False) for name in terms.CLASSES},
    name="SomePricesBody",
)
Prices = Schema.from_dict(
    {name: fields.number(required=name in terms.REQUIRED) for name in terms.CLASSES}, name="Prices"
)
SomePrices = Schema.from_dict(
    {name: fields.number(required=False) for name in terms.CLASSES}, name="SomePrices"
)


class PriceTierBody(Schema):
    """Prices of large contexts."""

    above_input_tokens = fields.integer(_ABOUT_ABOVE, **_ABOVE)
    prices = fields.nested(SomePricesBody)


class PriceCondition(Schema):
    """The calls that a variant is for; at least one of both."""

    service_tier = fields.text("in any case", required=False, maxLength=MAX_TIER_LENGTH)
    utc_time = fields.text(_TIME, required=False)


class PriceVariantBody(Schema):
    """Prices of some calls: either `prices` or `factor`."""

    when = fields.nested(PriceCondition)
    prices = fields.nested(SomePricesBody, required=False)
    factor = _amount(terms.MAX_FACTOR, required=False)
    tiers = fields.rows(PriceTierBody, _TIERS, required=False, maxItems=terms.MAX_TIERS)


class PriceBody(Body):
    """A price as a whole."""

    model = fields.text(
        "in any case, as events spell it, or without prefixes and the suffix of a date; `*` is any"
        " text",
        example="An example of a model",
        **_MODEL,
    )
    provider = fields.text(
        "only for calls of this provider; for all calls when absent",
        optional=True,
        minLength=1,
        maxLength=MAX_PROVIDER_LENGTH,
    )
    valid_from = fields.moment(
        "only for calls from this moment on; for all when absent", optional=True
    )
    prices = fields.nested(PricesBody, _PRICES)
    tiers = fields.rows(PriceTierBody, _TIERS, optional=True, maxItems=terms.MAX_TIERS)
    variants = fields.rows(PriceVariantBody, _VARIANTS, optional=True, maxItems=terms.MAX_VARIANTS)
    note = fields.text(
        "empty when absent",
        optional=True,
        maxLength=service.MAX_NOTE_LENGTH,
        example="An example of a note",
    )


class PriceTier(Schema):
    """Prices of large contexts."""

    above_input_tokens = fields.integer(_ABOUT_ABOVE)
    prices = fields.nested(SomePrices)


class PriceVariant(Schema):
    """Prices of some calls: either `prices` or `factor`."""

    when = fields.nested(PriceCondition)
    prices = fields.nested(SomePrices, required=False)
    factor = fields.number(required=False)
    tiers = fields.rows(PriceTier, _TIERS, required=False)


class PriceRow(Schema):
    """A price."""

    id = fields.text("a UUID; of a built-in price `builtin:`, its version and its name")
    source = fields.text(enum=list(get_args(Source)))
    model = fields.text("a pattern; of a built-in price its name")
    provider = fields.text("null for calls of any provider", null=True)
    valid_from = fields.moment("null for all calls", null=True)
    prices = fields.nested(Prices, _PRICES)
    tiers = fields.rows(PriceTier, _TIERS)
    variants = fields.rows(PriceVariant, _VARIANTS)
    note = fields.text()
    created_by = fields.author(null=True)
    created_at = fields.moment("null for a built-in price", null=True)
    updated_at = fields.moment("null for a built-in price", null=True)


def price_row(price: Price) -> dict[str, Any]:
    """Returns the row of a price."""
    return row_of(PriceRow, price, **price.terms.shown())


class PriceQuery(Schema):
    """The prices to list."""

    source = fields.text(
        "the organization's own prices, the built-in ones, or both",
        load_default="organization",
        validate=validate.OneOf(service.SOURCES),
    )
    model = fields.text("any part of the model, in any case", optional=True)
    cursor = fields.cursor()
    limit = Limit(default=50, cap=500)


class BuiltinTable(Schema):
    """The table of built-in prices."""

    source = fields.text("the package that it is made of")
    version = fields.text("version of the package")
    as_of = fields.text("the day on which it was made", format="date")
    models = fields.integer("number of its models")


class PricePage(Schema):
    """A page of prices: own ones first, then by model, provider and moment."""

    prices = fields.rows(PriceRow)
    builtin = fields.nested(BuiltinTable)
    next_cursor = fields.next_cursor()


class ResolveQuery(Schema):
    """The calls to look up."""

    model = fields.text("the model as events spell it", **_MODEL)
    provider = fields.text("the provider of the calls", optional=True)
    service_tier = fields.text("the service tier of the calls", optional=True)
    input_tokens = fields.integer(
        "the whole input of a call", load_default=0, validate=validate.Range(0, MAX_COUNT)
    )
    at = fields.moment("the moment of the calls; the default is now", optional=True)


class ResolvedPrice(Schema):
    """The price of some calls."""

    price = fields.nested(PriceRow, "null when unknown", null=True)
    source = fields.text(enum=[*get_args(Source), "unknown"])
    rates = fields.nested(
        SomePrices, "the price of each class, in the units of prices; empty when unknown"
    )
    notes = fields.texts("assumptions: `tier_unknown`")


def _of_event(about: str, *kinds: str, **details: Any) -> fields.Field:
    return fields.raw(about, optional=True, type=list(kinds), **details)


class _QuoteBody(Body):
    """The fields of an event. As in an event, a value of a wrong type counts for nothing."""

    timestamp = fields.moment("the default is now", optional=True)
    model = _of_event("", "string", example="example-model")
    model_name = _of_event("counts where there is no `model`", "string")
    provider = _of_event("", "string")
    service_tier = _of_event("", "string")
    cost_usd = _of_event("the cost that the event reports", "number", "string")
    cost_currency = _of_event("only a cost in USD counts", "string")
    usage = _of_event("the object of the provider; counts where an event has no field", "object")
    error = _of_event("a call that failed without tokens has no cost", "string", "object")


QuoteBody = _QuoteBody.from_dict(
    {name: _of_event("", "integer", minimum=0, maximum=MAX_COUNT) for name in COUNTS},
    name="QuoteBody",
)


class QuoteLine(Schema):
    """The part of one class in the cost of a call."""

    class_ = fields.text(data_key="class", enum=terms.CLASSES)
    quantity = fields.integer()
    rate = fields.number("US dollars of a million tokens, or of a thousand searches or requests")
    cost_usd = fields.number()


class Quote(Schema):
    """The cost that an event would have."""

    cost_usd = fields.number("null without a cost", null=True)
    cost_source = fields.text(
        "null for a call that failed without tokens", null=True, enum=[*get_args(CostSource), None]
    )
    unpriced_reason = fields.text(null=True, enum=[*get_args(Reason), None])
    lines = fields.rows(QuoteLine, "the parts of the computed cost")
    notes = fields.texts("assumptions, and a reported cost that was ignored")
    price = fields.nested(PriceRow, "the price that holds; null when unknown", null=True)
