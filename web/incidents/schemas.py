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
            "description": f"states, comma-separated: {', '.join(STATES)}; default: {default}",
        }
    )


class CountQuery(Schema):
    """The filters of a count of incidents."""

    state = _states("firing,acknowledged")
    alert_id = Values(
        metadata={
            "type": "string",
            "description": "ids of alerts, comma-separated; the default is any",
        }
    )


class ListQuery(CountQuery):
    """The filters of a list of incidents, newest first."""

    limit = Limit(default=200, cap=1000)


class AlertListQuery(Schema):
    """The filters of a list of an alert's incidents, newest first."""

    state = _states("all")
    limit = Limit(default=200, cap=1000)


class OpenBody(Body):
    """A report about an alert."""

    summary = fields.String(
        required=True,
        metadata={
            "minLength": 1,
            "maxLength": MAX_SUMMARY_LENGTH,
            "description": "description of the problem; surrounding blanks are removed",
            "example": "An example of a summary",
        },
    )
    title = fields.String(
        load_default=None,
        allow_none=True,
        metadata={
            "maxLength": MAX_TITLE_LENGTH,
            "description": "one line; the default is the alert's name",
            "example": "An example of a title",
        },
    )


class StandaloneBody(OpenBody):
    """A report about something that no alert watches."""

    title = fields.String(
        load_default=None,
        allow_none=True,
        metadata={
            "maxLength": MAX_TITLE_LENGTH,
            "description": "one line; the default is the first words of the summary",
            "example": "An example of a title",
        },
    )
    severity = fields.String(load_default="warning", metadata=_SEVERITY)


class AssignBody(Body):
    """The assignees: a list, or one."""

    assignees = fields.List(
        fields.String(metadata=_EMAIL),
        metadata={
            "maxItems": MAX_ASSIGNEES,
            "description": "addresses of active members, which replace the current ones",
        },
    )
    assigned_to = fields.String(
        allow_none=True,
        metadata={
            **_EMAIL,
            "description": "one address, or null for none; used if there is no list",
        },
    )


class CommentBody(Body):
    """A comment."""

    body = fields.String(
        required=True,
        metadata={
            "minLength": 1,
            "maxLength": MAX_BODY_LENGTH,
            "description": "surrounding blanks are removed",
            "example": "An example of a comment",
        },
    )


class SubscriptionBody(Body):
    """The address of a subscriber."""

    email = fields.String(
        load_default=None,
        allow_none=True,
        metadata={
            **_EMAIL,
            "description": "default: the caller's own; a key that acts for no member has none",
        },
    )


class OpenedRow(Schema):
    """The open incident."""

    id = fields.UUID(required=True)
    newly_opened = fields.Boolean(
        required=True,
        metadata={"description": "false: it was open before, and this report was added to it"},
    )
    state = fields.String(required=True, metadata=_STATE)
    source = fields.String(required=True, metadata=_SOURCE)


class IncidentCount(Schema):
    """The number of incidents."""

    count = fields.Integer(required=True)


class IncidentRow(Schema):
    """An incident. Its copy of the alert is from the moment when it was opened."""

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
        metadata={"description": "the compared numbers, and ids of events behind them"},
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
    """A person who gets mail about an incident."""

    email = fields.String(required=True, metadata=_EMAIL)
    source = fields.String(
        required=True,
        metadata={
            "enum": ["creator", "ack", "comment", "assigned", "manual"],
            "description": "reason for the subscription",
        },
    )
    subscribed_at = Timestamp(required=True)
    unsubscribed_at = Timestamp(required=True, allow_none=True)


class CommentRow(Schema):
    """A comment. A deleted one has no body."""

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
    """An entry of an incident's history."""

    kind = fields.String(required=True, metadata={"enum": list(KINDS)})
    actor = fields.String(required=True, metadata=_WHO)
    at = Timestamp(required=True)
    detail = fields.Dict(
        required=True,
        metadata={
            "description": "details by kind; consecutive breaches share one row with their `count`,"
            " dated at the last breach, with the first one as `since`"
        },
    )


class IncidentDetail(IncidentRow):
    """An incident with its details, each list oldest first."""

    notifications = fields.List(fields.Nested(IncidentNotification), required=True)
    subscribers = fields.List(fields.Nested(SubscriberRow), required=True)
    comments = fields.List(fields.Nested(CommentRow), required=True)
    activity = fields.List(
        fields.Nested(ActivityRow),
        required=True,
        metadata={"description": f"the newest {MOST_SHOWN}"},
    )


class SubscriptionRow(Schema):
    """The state of an address's subscription to an incident."""

    email = fields.String(required=True, metadata=_EMAIL)
    subscribed = fields.Boolean(required=True)
