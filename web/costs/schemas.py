"""Request and response schemas of the routes of costs."""

from typing import get_args

from marshmallow import Schema, validate

from shared.reading.costs.calendar import MAX_POINTS, MAX_ZONE_CHARS, NONE, UNITS
from shared.reading.costs.groups import GROUPS, MAX_GROUPS
from shared.reading.costs.statement import MAX_SERIES, SORTS
from shared.reading.costs.sums import STANDARD_DAYS
from shared.reading.costs.unpriced import MAX_MODELS
from shared.reading.events.filters import EventFilters
from shared.reading.prices.cost import CostSource, Reason
from web import fields
from web.filters import filtered
from web.params import Limit
from web.prices.schemas import PriceRow, Quote, QuoteLine
from web.statement import AsSql

_NAMES = ", ".join(f"`{name}`" for name in GROUPS)


class _Sums(AsSql):
    """How to add up."""

    group_by = fields.values(
        f"at most {MAX_GROUPS}, comma-separated, of {_NAMES}, `attr.<key>`; a call without a user"
        " or a version has that of its session, and a call counts for each tag of its session"
    )
    bucket = fields.text(
        "with it the answer has `series`; buckets are full units of a calendar, weeks begin on"
        f" Monday, and more than {MAX_POINTS} are refused",
        load_default=NONE,
        validate=validate.OneOf([NONE, *UNITS]),
    )
    tz = fields.text(
        "time zone of the buckets, such as `Europe/Berlin`",
        load_default="UTC",
        validate=validate.Length(1, MAX_ZONE_CHARS),
    )
    sort = fields.text(
        "the highest first; `tokens` are input and output together",
        load_default="cost",
        validate=validate.OneOf(list(SORTS)),
    )
    cursor = fields.text(
        "`next_cursor` of the previous page, which keeps its range; only with the same `group_by`"
        " and `sort`",
        optional=True,
    )
    limit = Limit(default=50, cap=500)


CostQuery = filtered(EventFilters, _Sums)
UnpricedQuery = filtered(EventFilters)


class CostFigures(Schema):
    """The figures of some calls; amounts are US dollars."""

    calls = fields.integer("those with a cost, and those without a price")
    unpriced_calls = fields.integer("with some, `cost_usd` is a lower bound")
    assumed_calls = fields.integer("calls with a note, such as `tier_unknown`")
    sessions = fields.integer("sessions of these calls")
    input_tokens = fields.integer()
    output_tokens = fields.integer()
    cache_read_tokens = fields.integer()
    cache_write_tokens = fields.integer("of all lifetimes")
    cache_write_1h_tokens = fields.integer()
    reasoning_tokens = fields.integer()
    cost_usd = fields.number("null if no call has a cost", null=True)
    reported_usd = fields.number("what senders reported")
    computed_usd = fields.number("what prices say")
    difference_usd = fields.number("reported less computed, of calls that have both")


def _key(about: str, **details: bool) -> fields.Field:
    return fields.mapping(about, keys=fields.text(), values=fields.text(null=True), **details)


class CostGroup(CostFigures):
    """The figures of a group."""

    key = _key("each dimension of `group_by` with its value, null for calls without one")


class CostBounds(Schema):
    """The range of the calls."""

    from_ = fields.text("inclusive", data_key="from", format="date-time")
    to = fields.text("exclusive", format="date-time")


class CostPoint(Schema):
    """The calls of a bucket."""

    ts = fields.text("start of the bucket", format="date-time")
    cost_usd = fields.number("null if no call has a cost; without calls 0", null=True)
    calls = fields.integer()
    tokens = fields.integer("input and output")


class CostSeries(Schema):
    """A group over time."""

    key = _key("null for all calls", null=True)
    points = fields.rows(CostPoint, "one for each bucket")


class Costs(Schema):
    """Sums of calls. The first page's groups and `other` add up to `total`, except sessions.

    By tag they do not, because a call counts for each tag of its session.
    """

    bounds = fields.nested(
        CostBounds, f"without `ts_from` it is {STANDARD_DAYS} days before `ts_to`, which is now"
    )
    currency = fields.text(enum=["USD"])
    total = fields.nested(CostFigures)
    groups = fields.rows(CostGroup, "empty without `group_by`; groups without a cost are last")
    other = fields.nested(CostFigures, "all further groups, null without any", null=True)
    series = fields.rows(
        CostSeries, f"all calls, then the {MAX_SERIES} dearest groups; empty without `bucket`"
    )
    next_cursor = fields.next_cursor()


class CallExample(Schema):
    """The newest of the calls."""

    session_id = fields.text()
    event_id = fields.integer()


class UnpricedModel(Schema):
    """Calls without a price."""

    model = fields.text(null=True)
    provider = fields.text(null=True)
    service_tier = fields.text("null for the standard one", null=True)
    reason = fields.text(enum=list(get_args(Reason)))
    calls = fields.integer()
    input_tokens = fields.integer()
    output_tokens = fields.integer()
    share_of_calls = fields.number("of all calls, from 0 to 1")
    share_of_tokens = fields.number("of the input and output of all calls, from 0 to 1")
    first_at = fields.text(format="date-time")
    last_at = fields.text(format="date-time")
    example = fields.nested(CallExample)


class UnpricedTotal(Schema):
    """All calls, and their part without a price."""

    calls = fields.integer()
    unpriced_calls = fields.integer()
    share_of_calls = fields.number("from 0 to 1")
    share_of_tokens = fields.number("from 0 to 1")


class UnpricedModels(Schema):
    """The calls without a price."""

    models = fields.rows(UnpricedModel, f"at most {MAX_MODELS}, those of most calls first")
    total = fields.nested(UnpricedTotal)


class StoredCost(Quote):
    """The cost of a call as it is stored."""

    cost_source = fields.text(enum=list(get_args(CostSource)))
    lines = fields.rows(
        QuoteLine, "the parts of the computed cost; empty if its price has changed since"
    )
    price = fields.nested(
        PriceRow,
        "the price that the cost was computed with; null if it does not hold for the call any more",
        null=True,
    )
    reported_usd = fields.number("what the sender reported", null=True)
    computed_usd = fields.number("what the price said", null=True)
