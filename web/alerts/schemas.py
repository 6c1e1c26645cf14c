"""Request and response schemas of the routes of alerts."""

from marshmallow import Schema, fields

from shared.alerts.rules import (
    DEFAULT_INTERVAL_SECS,
    MAX_DESCRIPTION_LENGTH,
    MAX_EVAL_WINDOW,
    MAX_INTERVAL_SECS,
    MAX_NAME_LENGTH,
    MIN_INTERVAL_SECS,
    SEVERITIES,
)
from shared.alerts.specs import SPECS
from web.params import Body, Timestamp, count_field, name_field, switch_field

_WHO = {"description": "the address of a person or the name of a key"}
_KINDS = list(SPECS)

_SPEC = {
    "description": "the condition; its fields depend on `trigger_kind` (docs/alerts.md)."
    " With `auto_resolve: true` an incident ends after `eval_window` evaluations without a breach",
    "example": {
        "metric": "error_rate",
        "op": ">",
        "value": 0.2,
        "window_secs": 3600,
        "filter": {"environment": "An environment like example"},
    },
}
_CHANNELS = {
    "description": "channels that announce its incidents: `email` (`recipients`, null for the"
    " organization's), `slack` (`webhook_setting_key`), `webhook` (`url_setting_key`,"
    " `secret_setting_key`) and `dashboard`, each with its `kind`",
    "example": [{"kind": "dashboard"}],
}


class AlertBody(Body):
    """A rule as a whole. Absent and null fields get their defaults."""

    name = name_field(MAX_NAME_LENGTH)
    description = fields.String(
        load_default=None,
        allow_none=True,
        metadata={"maxLength": MAX_DESCRIPTION_LENGTH, "example": "An example of a description"},
    )
    enabled = switch_field(True, "a disabled rule is not evaluated")
    trigger_kind = fields.String(
        required=True, metadata={"enum": _KINDS, "example": "metric_threshold"}
    )
    trigger_spec = fields.Dict(required=True, metadata=_SPEC)
    severity = fields.String(
        load_default=None,
        allow_none=True,
        metadata={"enum": list(SEVERITIES), "default": "warning"},
    )
    min_breaches = count_field(
        1, 1, MAX_EVAL_WINDOW, "number of the last `eval_window` evaluations that have to breach"
    )
    eval_window = count_field(1, 1, MAX_EVAL_WINDOW, "number of recent evaluations that count")
    eval_interval_secs = count_field(
        DEFAULT_INTERVAL_SECS, MIN_INTERVAL_SECS, MAX_INTERVAL_SECS, "seconds between evaluations"
    )
    channels = fields.List(fields.Dict(), load_default=None, allow_none=True, metadata=_CHANNELS)


class AlertRow(Schema):
    """A rule and the result of its last evaluation."""

    id = fields.UUID(required=True)
    name = fields.String(required=True)
    description = fields.String(required=True, allow_none=True)
    enabled = fields.Boolean(required=True)
    trigger_kind = fields.String(required=True, metadata={"enum": _KINDS})
    trigger_spec = fields.Dict(
        required=True, metadata={"description": "as it was sent, without unknown fields"}
    )
    severity = fields.String(required=True, metadata={"enum": list(SEVERITIES)})
    min_breaches = fields.Integer(required=True)
    eval_window = fields.Integer(required=True)
    eval_interval_secs = fields.Integer(required=True)
    channels = fields.List(fields.Dict(), required=True)
    created_by = fields.String(required=True, metadata=_WHO)
    created_at = Timestamp(required=True)
    updated_at = Timestamp(required=True)
    last_attempted_at = Timestamp(
        required=True, allow_none=True, metadata={"description": "time of the last evaluation"}
    )
    last_error = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "reason why the last evaluation failed, null if it succeeded"},
    )
    open_incidents = fields.Integer(required=True, metadata={"description": "0 or 1"})


class DeliveryTestBody(Body):
    """The channels to test."""

    channels = fields.List(
        fields.Dict(),
        load_default=None,
        allow_none=True,
        metadata={**_CHANNELS, "description": "channels to test instead of the rule's own"},
    )


class TestedDelivery(Schema):
    """The result of one delivery."""

    channel = fields.String(required=True)
    target = fields.String(
        required=True, metadata={"description": "an address, a URL without its secrets, or a name"}
    )
    status = fields.String(
        required=True, metadata={"enum": ["queued", "sent", "failed", "skipped"]}
    )
    error = fields.String(required=True, allow_none=True)


class DeliveryTest(Schema):
    """The result of a test. The list of incidents does not show it."""

    ok = fields.Boolean(
        required=True, metadata={"description": "true: every delivery was sent before this answer"}
    )
    synthetic_incident_id = fields.UUID(
        required=True, metadata={"description": "the incident that the messages name"}
    )
    deliveries = fields.List(fields.Nested(TestedDelivery), required=True)


class Recipient(Schema):
    """A member who can get mail."""

    email = fields.String(required=True)
