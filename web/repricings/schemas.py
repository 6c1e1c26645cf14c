"""Request and response schemas of repricings."""

from marshmallow import Schema

from shared.upkeep.repricings.figures import MAX_MODELS
from shared.upkeep.repricings.service import DEFAULT_PAGE, MAX_FILTER_LENGTH, MAX_PAGE, MAX_RANGE
from web import fields
from web.params import Body, Limit

_TEXT: fields.Details = {"minLength": 1, "maxLength": MAX_FILTER_LENGTH}


class RepricingBody(Body):
    """The calls to price again, by the time of their events."""

    start = fields.moment(data_key="from", example="2026-11-01T00:00:00Z")
    stop = fields.moment(
        f"exclusive; at most {MAX_RANGE.days} days later",
        data_key="to",
        example="2026-11-08T00:00:00Z",
    )
    model = fields.text("calls of this model only", optional=True, **_TEXT)
    agent_id = fields.text("calls of this agent only", optional=True, **_TEXT)
    environment = fields.text("calls in this environment only", optional=True, **_TEXT)
    dry_run = fields.switch(True, "only compute what would change", example=False)


class RepricingQuery(Schema):
    """The length of the list."""

    limit = Limit(default=DEFAULT_PAGE, cap=MAX_PAGE)


class RepricingFilter(Schema):
    """What limits the calls; absent without a limit."""

    model = fields.text(required=False)
    agent_id = fields.text(required=False)
    environment = fields.text(required=False)


class RepricingProgress(Schema):
    """How far a repricing is."""

    months = fields.integer("months that its range lies in")
    months_done = fields.integer()
    calls = fields.integer("calls so far")


class RepricedModel(Schema):
    """The calls of a model."""

    model = fields.text(null=True)
    calls = fields.integer()
    changed = fields.integer()
    before_usd = fields.number()
    after_usd = fields.number()


class RepricingResult(Schema):
    """What a repricing changed, or a dry run would change."""

    calls = fields.integer("calls in the range")
    changed = fields.integer("calls with another amount, or another source of it")
    newly_priced = fields.integer("calls that had no cost before")
    no_longer_priced = fields.integer("calls that have none afterwards")
    before_usd = fields.number()
    after_usd = fields.number()
    difference_usd = fields.number("after less before")
    by_model = fields.rows(RepricedModel, "the dearest ones", maxItems=MAX_MODELS)


class RepricingRow(Schema):
    """A repricing and its progress."""

    id = fields.text(format="uuid")
    state = fields.text(enum=["queued", "running", "done", "failed", "cancelled"])
    dry_run = fields.flag()
    starts_at = fields.moment(data_key="from")
    ends_at = fields.moment(data_key="to")
    filter = fields.nested(RepricingFilter)
    requested_by = fields.author()
    requested_at = fields.moment()
    started_at = fields.moment(null=True)
    finished_at = fields.moment(null=True)
    progress = fields.nested(RepricingProgress)
    result = fields.nested(
        RepricingResult, "null until it has ended; of a cancelled one as far as it came", null=True
    )
    error = fields.text(null=True)


class RepricingList(Schema):
    """Repricings, newest first."""

    repricings = fields.rows(RepricingRow)
