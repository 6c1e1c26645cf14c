"""Request and response schemas of the routes of alerts."""

from marshmallow import Schema

from shared.watch.alerts import rules
from shared.watch.alerts.evaluation.replaying import MOST_SHOWN
from shared.watch.alerts.specs import SPECS
from web import fields, shapes
from web.budgets.fields import group_field
from web.channels import CHANNEL
from web.params import Body

_KINDS = list(SPECS)

_SPEC: fields.Details = {
    "shape": shapes.tagged_beside("Trigger", "trigger_kind", "trigger_spec", SPECS),
    "description": "the condition; its fields depend on `trigger_kind` (docs/use/alerts.md)."
    " With `auto_resolve: true` an incident ends after `eval_window` evaluations without a breach",
    "example": {
        "metric": "error_rate",
        "op": ">",
        "value": 0.2,
        "window_secs": 3600,
        "filter": {"environment": "An environment like example"},
    },
}
_CHANNELS: fields.Details = {
    "description": "channels that announce its incidents",
    "example": [{"kind": "dashboard"}],
}


class _Condition(Body):
    """The part of a rule that decides when it breaches and when it fires."""

    trigger_kind = fields.text(enum=_KINDS, example="metric_threshold")
    trigger_spec = fields.shaped(**_SPEC)
    min_breaches = fields.count(
        1,
        1,
        rules.MAX_EVAL_WINDOW,
        "number of the last `eval_window` evaluations that have to breach",
    )
    eval_window = fields.count(
        1, 1, rules.MAX_EVAL_WINDOW, "number of recent evaluations that count"
    )
    eval_interval_secs = fields.count(
        rules.DEFAULT_INTERVAL_SECS,
        rules.MIN_INTERVAL_SECS,
        rules.MAX_INTERVAL_SECS,
        "seconds between evaluations",
    )


class AlertBody(_Condition):
    """A rule as a whole. Absent and null fields get their defaults."""

    name = fields.name(rules.MAX_NAME_LENGTH)
    description = fields.text(
        optional=True, maxLength=rules.MAX_DESCRIPTION_LENGTH, example="An example of a description"
    )
    enabled = fields.switch(True, "a disabled rule is not evaluated")
    severity = fields.text(optional=True, enum=rules.SEVERITIES, default="warning")
    channels = fields.list_of(fields.shaped(shape=CHANNEL), optional=True, **_CHANNELS)


class AlertRow(Schema):
    """A rule and the result of its last evaluation."""

    id = fields.uuid()
    name = fields.text()
    description = fields.text(null=True)
    enabled = fields.flag()
    trigger_kind = fields.text(enum=_KINDS)
    trigger_spec = fields.shaped("as it was sent, without unknown fields", shape=_SPEC["shape"])
    severity = fields.text(enum=rules.SEVERITIES)
    min_breaches = fields.integer()
    eval_window = fields.integer()
    eval_interval_secs = fields.integer()
    channels = fields.list_of(fields.shaped(shape=CHANNEL))
    created_by = fields.author()
    created_at = fields.moment()
    updated_at = fields.moment()
    last_attempted_at = fields.moment("time of the last evaluation", null=True)
    last_error = fields.text(
        "reason why the last evaluation failed, null if it succeeded", null=True
    )
    open_incidents = fields.integer("at most 1, or 100 of different groups")


class DeliveryTestBody(Body):
    """The channels to test."""

    channels = fields.list_of(
        fields.shaped(shape=CHANNEL),
        "channels to test instead of the rule's own",
        optional=True,
        **_CHANNELS,
    )


class TestedDelivery(Schema):
    """The result of one delivery."""

    channel = fields.text()
    target = fields.text("an address, a URL without its secrets, or a name")
    status = fields.text(enum=["queued", "sent", "failed", "skipped"])
    error = fields.text(null=True)


class DeliveryTest(Schema):
    """The result of a test. The list of incidents does not show it."""

    ok = fields.flag("true: every delivery was sent before this answer")
    synthetic_incident_id = fields.uuid("the incident that the messages name")
    deliveries = fields.rows(TestedDelivery)


class Recipient(Schema):
    """A member who can get mail."""

    email = fields.text()


class PreviewBody(_Condition):
    """A rule that need not exist, and a span of at most 30 days."""

    ts_from = fields.moment("by default 7 days before `to`", data_key="from", optional=True)
    ts_to = fields.moment(
        "now by default; a later moment than that up to which events are stored counts as that",
        data_key="to",
        optional=True,
    )


class PreviewBounds(Schema):
    """The windows end at `to`, and every `step_secs` before it."""

    ts_from = fields.moment(data_key="from")
    ts_to = fields.moment(data_key="to")
    step_secs = fields.integer("`eval_interval_secs`, or more for at most 336 points")


class PreviewPoint(Schema):
    """The evaluation of one window."""

    ts = fields.moment("end of the window")
    value = fields.number(
        "the number that is compared: of `per_event` the matching events, of `eval_compound` the"
        " conditions that hold, of `budget` the dollars of the period; null if there is none",
        null=True,
    )
    breach = fields.flag("null: not evaluated", null=True)


class PreviewIncident(Schema):
    """An incident that the rule would have opened."""

    opened_at = fields.moment()
    resolved_at = fields.moment("null: it would still be open", null=True)
    breaches = fields.integer("the one that opened it, and those that were folded into it")


class _Replay(Schema):
    """The evaluations and incidents of a rule that would have existed, or of a group of it."""

    bounds = fields.nested(PreviewBounds)
    op = fields.text("the operator as a sign", null=True)
    bound = fields.number("the number that a value is compared with", null=True)
    points = fields.rows(PreviewPoint, "oldest first")
    incidents = fields.rows(PreviewIncident, "oldest first")
    replayed = fields.flag("false: only the present was evaluated")
    reason = fields.text("reason why it was not replayed", null=True)


class PreviewGroup(_Replay):
    """A group of a rule."""

    group = group_field("the rule's field and the group's value")


class AlertPreview(_Replay):
    """The evaluations and incidents of a rule that would have existed."""

    groups = fields.rows(
        PreviewGroup,
        f"the {MOST_SHOWN} with most breaches; then the rule itself has no points. Null without"
        " `group_by`",
        null=True,
    )
