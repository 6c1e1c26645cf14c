"""Request and response schemas of the routes of usage."""

from marshmallow import Schema

from shared.usage.counters import COUNTERS
from web import fields


class UsageQuery(Schema):
    """The window to count."""

    window_start = fields.moment(
        "any moment of the window; the default is the current window", optional=True
    )


class BillingWindow(Schema):
    """30 days."""

    start = fields.moment()
    end = fields.moment("exclusive")


UsageCounters = Schema.from_dict(
    {name: fields.integer(counter.description) for name, counter in COUNTERS.items()},
    name="UsageCounters",
)


class Usage(Schema):
    """The organization's usage in one window."""

    org_id = fields.uuid()
    billing_anchor = fields.moment("start of the first window")
    window = fields.nested(BillingWindow)
    usage = fields.nested(UsageCounters)
    calculated_at = fields.moment()
    stale_after = fields.moment("counting starts again at this time")


class UsageOfWindow(Schema):
    """Events that arrived and evaluations that finished in one window."""

    # `from` is a Python keyword.
    start = fields.moment(data_key="from")
    end = fields.moment("exclusive", data_key="to")
    events_ingested = fields.integer()
    evaluations = fields.integer()


class UsageWindows(Schema):
    """The newest windows, newest first."""

    windows = fields.rows(UsageOfWindow)
