"""Request and response schemas of the routes of usage."""

from marshmallow import Schema, fields

from shared.usage.counters import COUNTERS
from web.params import Timestamp


class UsageQuery(Schema):
    """The window to count."""

    window_start = Timestamp(
        load_default=None,
        metadata={"description": "any moment of the window; the default is the current window"},
    )


class BillingWindow(Schema):
    """30 days."""

    start = Timestamp(required=True)
    end = Timestamp(required=True, metadata={"description": "exclusive"})


UsageCounters = Schema.from_dict(
    {
        name: fields.Integer(required=True, metadata={"description": counter.description})
        for name, counter in COUNTERS.items()
    },
    name="UsageCounters",
)


class Usage(Schema):
    """The organization's usage in one window."""

    org_id = fields.UUID(required=True)
    billing_anchor = Timestamp(required=True, metadata={"description": "start of the first window"})
    window = fields.Nested(BillingWindow, required=True)
    usage = fields.Nested(UsageCounters, required=True)
    calculated_at = Timestamp(required=True)
    stale_after = Timestamp(
        required=True, metadata={"description": "counting starts again at this time"}
    )


class UsageOfWindow(Schema):
    """Events that arrived and evaluations that finished in one window."""

    # `from` is a Python keyword.
    start = Timestamp(required=True, data_key="from")
    end = Timestamp(required=True, data_key="to", metadata={"description": "exclusive"})
    events_ingested = fields.Integer(required=True)
    evaluations = fields.Integer(required=True)


class UsageWindows(Schema):
    """The newest windows, newest first."""

    windows = fields.List(fields.Nested(UsageOfWindow), required=True)
