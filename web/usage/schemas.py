"""Request and response schemas of the routes of usage."""

from marshmallow import Schema

from shared.upkeep.usage.counters import COUNTERS
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


class RefusedBy(Schema):
    """Refused requests by limit; a request over several limits counts for each."""

    key_requests = fields.integer()
    key_events = fields.integer()
    org_events = fields.integer()


class LimitsToday(Schema):
    """The limits of the organization, 0 for none, and the counts of the present day (UTC)."""

    enforced = fields.flag("false: requests over a limit are only counted")
    key_requests_per_sec = fields.integer()
    key_events_per_sec = fields.integer()
    org_events_per_day = fields.integer()
    day = fields.text(format="date")
    events = fields.integer("events within the limits, counted while there is a limit")
    refused_requests = fields.integer("refused, or would have been if limits were enforced")
    refused_events = fields.integer("events of these requests")
    refused_by = fields.nested(RefusedBy)


class Usage(Schema):
    """The organization's usage in one window."""

    org_id = fields.uuid()
    billing_anchor = fields.moment("start of the first window")
    window = fields.nested(BillingWindow)
    usage = fields.nested(UsageCounters)
    calculated_at = fields.moment()
    stale_after = fields.moment("counting starts again at this time")
    limits = fields.nested(LimitsToday, "of the present; null while they cannot be read", null=True)


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
