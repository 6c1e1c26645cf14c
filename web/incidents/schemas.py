"""Request and response schemas of the routes of incidents."""

from marshmallow import Schema, fields

from shared.incidents.activity import KINDS, MOST_SHOWN
from shared.incidents.rules import (
    MAX_ASSIGNEES,
    MAX_BODY_LENGTH,
    MAX_SUMMARY_LENGTH,
    MAX_TITLE_LENGTH,
    SEVERITIES,
    STATES,
)
from web.params import Body, Limit, Timestamp, Values

_WHO = {"description": "an address, the name of a key, or `system`"}
_STATE = {"enum": list(STATES)}
_SEVERITY = {"enum": list(SEVERITIES)}
_SOURCE = {"enum": ["alert", "manual", "audit"]}
_EMAIL = {"format": "email"}


def _states(default: str) -> Values:
    return Values(
        metadata={
            "type": "string",
            "description": f"states, comma-separated: {', '.join(STATES)}; {default} without it",
        }
    )


class CountQuery(Schema):
    """Which incidents count."""

    state = _states("firing,acknowledged")
    alert_id = Values(
        metadata={"type": "string", "description": "ids of alerts, comma-separated; any without it"}
    )


class ListQuery(CountQuery):
    """Which incidents, newest first."""

    limit = Limit(default=200, cap=1000)


class AlertListQuery(Schema):
    """Which incidents of one alert, newest first."""

    state = _states("all")
    limit = Limit(default=200, cap=1000)


class OpenBody(Body):
    """What somebody reports of an alert."""

    summary = fields.String(
        required=True,
        metadata={
            "minLength": 1,
            "maxLength": MAX_SUMMARY_LENGTH,
            "description": "what is wrong; blanks around it are cut off",
            "example": "An example of a summary",
        },
    )
    title = fields.String(
        load_default=None,
        allow_none=True,
        metadata={
            "maxLength": MAX_TITLE_LENGTH,
            "description": "on one line; without it the alert's name",
            "example": "An example of a title",
        },
    )


class StandaloneBody(OpenBody):
    """What somebody reports of nothing that is watched."""

    title = fields.String(
        load_default=None,
        allow_none=True,
        metadata={
            "maxLength": MAX_TITLE_LENGTH,
            "description": "on one line; without it the first words of the summary",
            "example": "An example of a title",
        },
    )
    severity = fields.String(load_default="warning", metadata=_SEVERITY)


class AssignBody(Body):
    """Who looks after it: a list, or one."""

    assignees = fields.List(
        fields.String(metadata=_EMAIL),
        metadata={
            "maxItems": MAX_ASSIGNEES,
            "description": "addresses of active members, instead of those before",
        },
    )
    assigned_to = fields.String(
        allow_none=True,
        metadata={
            **_EMAIL,
            "description": "one address, null for nobody; it counts where there is no list",
        },
    )


class CommentBody(Body):
    """Something to be said."""

    body = fields.String(
        required=True,
        metadata={
            "minLength": 1,
            "maxLength": MAX_BODY_LENGTH,
            "description": "blanks around it are cut off",
            "example": "An example of a comment",
        },
    )


class SubscriptionBody(Body):
    """Whose subscription."""

    email = fields.String(
        load_default=None,
        allow_none=True,
        metadata={
            **_EMAIL,
            "description": "the caller's own without it, which a key that acts for nobody has not",
        },
    )


class OpenedRow(Schema):
    """The incident that is open now."""

    id = fields.UUID(required=True)
    newly_opened = fields.Boolean(
        required=True, metadata={"description": "false: it was open before, and was told of this"}
    )
    state = fields.String(required=True, metadata=_STATE)
    source = fields.String(required=True, metadata=_SOURCE)


class IncidentCount(Schema):
    """How many incidents there are."""

    count = fields.Integer(required=True)


class IncidentRow(Schema):
    """An incident; what it tells of its alert is as it was when the incident was opened."""

    id = fields.UUID(required=True)
    title = fields.String(required=True)
    source = fields.String(required=True, metadata=_SOURCE)
    source_finding_id = fields.UUID(required=True, allow_none=True)
    alert_id = fields.UUID(required=True, allow_none=True)
    alert_name = fields.String(required=True, allow_none=True)
    alert_severity = fields.String(required=True, metadata=_SEVERITY)
    trigger_kind = fields.String(required=True, allow_none=True)
    state = fields.String(required=True, metadata=_STATE)
    opened_at = Timestamp(required=True)
    last_breach_at = Timestamp(required=True)
    acknowledged_at = Timestamp(required=True, allow_none=True)
    acknowledged_by = fields.String(required=True, allow_none=True, metadata=_WHO)
    assignees = fields.List(fields.String(metadata=_EMAIL), required=True)
    resolved_at = Timestamp(required=True, allow_none=True)
    resolved_by = fields.String(required=True, allow_none=True, metadata=_WHO)
    breach_value = fields.Float(required=True, allow_none=True)
    breach_summary = fields.String(required=True, allow_none=True)
    evidence = fields.Dict(
        required=True,
        allow_none=True,
        metadata={"description": "the numbers that were compared, and ids of events behind them"},
    )


class IncidentNotification(Schema):
    """One delivery to one target."""

    id = fields.UUID(required=True)
    channel = fields.String(
        required=True, metadata={"enum": ["email", "slack", "webhook", "dashboard"]}
    )
    target = fields.String(required=True)
    event = fields.String(
        required=True, metadata={"enum": ["alert.firing", "alert.resolved", "alert.test"]}
    )
    status = fields.String(
        required=True, metadata={"enum": ["queued", "sent", "failed", "skipped"]}
    )
    attempts = fields.Integer(required=True)
    error = fields.String(required=True, allow_none=True)
    created_at = Timestamp(required=True)


class SubscriberRow(Schema):
    """Who gets mail about an incident."""

    email = fields.String(required=True, metadata=_EMAIL)
    source = fields.String(
        required=True,
        metadata={
            "enum": ["creator", "ack", "comment", "assigned", "manual"],
            "description": "what subscribed them",
        },
    )
    subscribed_at = Timestamp(required=True)
    unsubscribed_at = Timestamp(required=True, allow_none=True)


class CommentRow(Schema):
    """Something that was said; a deleted comment has no body any more."""

    id = fields.UUID(required=True)
    incident_id = fields.UUID(required=True)
    author_email = fields.String(
        required=True, metadata={"description": "an address, or the name of a key"}
    )
    body = fields.String(required=True, allow_none=True)
    created_at = Timestamp(required=True)
    edited_at = Timestamp(required=True, allow_none=True)
    deleted_at = Timestamp(required=True, allow_none=True)


class ActivityRow(Schema):
    """What happened to an incident."""

    kind = fields.String(required=True, metadata={"enum": list(KINDS)})
    actor = fields.String(required=True, metadata=_WHO)
    at = Timestamp(required=True)
    detail = fields.Dict(
        required=True,
        metadata={
            "description": "more of it, by kind; breaches without anything between them are one row"
            " with their `count`, at the moment of the last one, `since` the first one"
        },
    )


class IncidentDetail(IncidentRow):
    """An incident with all that is about it, each list oldest first."""

    notifications = fields.List(fields.Nested(IncidentNotification), required=True)
    subscribers = fields.List(fields.Nested(SubscriberRow), required=True)
    comments = fields.List(fields.Nested(CommentRow), required=True)
    activity = fields.List(
        fields.Nested(ActivityRow),
        required=True,
        metadata={"description": f"the newest {MOST_SHOWN}"},
    )


class SubscriptionRow(Schema):
    """Whether an address gets mail about an incident."""

    email = fields.String(required=True, metadata=_EMAIL)
    subscribed = fields.Boolean(required=True)
