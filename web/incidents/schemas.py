"""Request and response schemas of the routes of incidents."""

from marshmallow import Schema

from shared.foundation.core.channels import KINDS
from shared.watch.alerts.evidence import EVIDENCE
from shared.watch.alerts.resolution import MAX_SNOOZE_SECS
from shared.watch.audits.findings.evidence import AuditEvidence
from shared.watch.incidents import activity, rules
from shared.watch.incidents.activity import MOST_SHOWN
from shared.watch.incidents.details import DETAILS
from web import fields, shapes
from web.budgets.fields import group_field, level_field
from web.params import Body, Limit

# `trigger_kind` does not tell them apart: an alert may get another kind while its incident is open.
_EVIDENCE = shapes.any_of("IncidentEvidence", (*EVIDENCE, AuditEvidence))
_ACTIVITY = shapes.tagged_beside("Activity", "kind", "detail", DETAILS)

_WHO = "an address, the name of a key, or `system`"
_SOURCES = ["alert", "manual", "audit"]


def _states(default: str) -> fields.Field:
    return fields.values(
        f"states, comma-separated: {', '.join(rules.STATES)}; default: {default}",
        optional=True,
        type="string",
    )


class CountQuery(Schema):
    """The filters of a count of incidents."""

    state = _states("firing,acknowledged")
    alert_id = fields.values(
        "ids of alerts, comma-separated; the default is any", optional=True, type="string"
    )
    resolved_since = fields.moment("of resolved ones only those since then", optional=True)


class ListQuery(CountQuery):
    """The filters of a list of incidents, newest first."""

    limit = Limit(default=200, cap=1000)


class AlertListQuery(Schema):
    """The filters of a list of an alert's incidents, newest first."""

    state = _states("all")
    limit = Limit(default=200, cap=1000)


class OpenBody(Body):
    """A report about an alert."""

    summary = fields.text(
        "description of the problem; surrounding blanks are removed",
        minLength=1,
        maxLength=rules.MAX_SUMMARY_LENGTH,
        example="An example of a summary",
    )
    title = fields.text(
        "one line; the default is the alert's name",
        optional=True,
        maxLength=rules.MAX_TITLE_LENGTH,
        example="An example of a title",
    )


class StandaloneBody(OpenBody):
    """A report about something that no alert watches."""

    title = fields.text(
        "one line; the default is the first words of the summary",
        optional=True,
        maxLength=rules.MAX_TITLE_LENGTH,
        example="An example of a title",
    )
    severity = fields.text(load_default="warning", enum=rules.SEVERITIES)


class AssignBody(Body):
    """The assignees: a list, or one."""

    assignees = fields.list_of(
        fields.text(format="email"),
        "addresses of active members, which replace the current ones",
        required=False,
        maxItems=rules.MAX_ASSIGNEES,
    )
    assigned_to = fields.text(
        "one address, or null for none; used if there is no list",
        required=False,
        null=True,
        format="email",
    )


class ResolveBody(Body):
    """The fate of the incident's rule."""

    snooze_secs = fields.integer(
        "its rule is not judged by what happens in this time",
        load_default=0,
        strict=True,
        minimum=0,
        maximum=MAX_SNOOZE_SECS,
    )


class CommentBody(Body):
    """A comment."""

    body = fields.text(
        "surrounding blanks are removed",
        minLength=1,
        maxLength=rules.MAX_BODY_LENGTH,
        example="An example of a comment",
    )


class SubscriptionBody(Body):
    """The address of a subscriber."""

    email = fields.text(
        "default: the caller's own; a key that acts for no member has none",
        optional=True,
        format="email",
    )


class OpenedRow(Schema):
    """The open incident."""

    id = fields.uuid()
    newly_opened = fields.flag("false: it was open before, and this report was added to it")
    state = fields.text(enum=rules.STATES)
    source = fields.text(enum=_SOURCES)


class IncidentCount(Schema):
    """The number of incidents."""

    count = fields.integer()


class IncidentRow(Schema):
    """An incident. Its copy of the alert is from the moment when it was opened."""

    id = fields.uuid()
    title = fields.text()
    source = fields.text(enum=_SOURCES)
    source_finding_id = fields.uuid(null=True)
    alert_id = fields.uuid(null=True)
    alert_name = fields.text(null=True)
    alert_severity = fields.text(enum=rules.SEVERITIES)
    trigger_kind = fields.text(null=True)
    state = fields.text(enum=rules.STATES)
    opened_at = fields.moment()
    last_breach_at = fields.moment()
    acknowledged_at = fields.moment(null=True)
    acknowledged_by = fields.text(_WHO, null=True)
    assignees = fields.list_of(fields.text(format="email"))
    resolved_at = fields.moment(null=True)
    resolved_by = fields.text(_WHO, null=True)
    breach_value = fields.number(null=True)
    breach_summary = fields.text(null=True)
    group = group_field("of a rule with `group_by`: its field and the group's value")
    level = level_field("of a budget: the last one that was announced")
    evidence = fields.shaped(
        "the compared numbers, and ids of events behind them", null=True, shape=_EVIDENCE
    )


class IncidentNotification(Schema):
    """One delivery to one target."""

    id = fields.uuid()
    channel = fields.text(enum=KINDS)
    target = fields.text(attribute="shown_target")
    event = fields.text(enum=["alert.firing", "alert.resolved", "alert.test"])
    status = fields.text(enum=["queued", "sent", "failed", "skipped"])
    attempts = fields.integer()
    error = fields.text(null=True)
    created_at = fields.moment()


class SubscriberRow(Schema):
    """A person who gets mail about an incident."""

    email = fields.text(format="email")
    source = fields.text(
        "reason for the subscription", enum=["creator", "ack", "comment", "assigned", "manual"]
    )
    subscribed_at = fields.moment()
    unsubscribed_at = fields.moment(null=True)


class CommentRow(Schema):
    """A comment. A deleted one has no body."""

    id = fields.uuid()
    incident_id = fields.uuid()
    author_email = fields.text("an address, or the name of a key")
    body = fields.text(null=True)
    created_at = fields.moment()
    edited_at = fields.moment(null=True)
    deleted_at = fields.moment(null=True)


class ActivityRow(Schema):
    """An entry of an incident's history."""

    kind = fields.text(enum=list(activity.KINDS))
    actor = fields.text(_WHO)
    at = fields.moment()
    detail = fields.shaped(
        "details by kind; consecutive breaches share one row with their `count`,"
        " dated at the last breach, with the first one as `since`",
        shape=_ACTIVITY,
    )


class IncidentDetail(IncidentRow):
    """An incident with its details, each list oldest first."""

    alert_description = fields.text("of its alert or audit: what to do when it fires", null=True)
    notifications = fields.rows(IncidentNotification)
    subscribers = fields.rows(SubscriberRow)
    comments = fields.rows(CommentRow)
    activity = fields.rows(ActivityRow, f"the newest {MOST_SHOWN}")


class SubscriptionRow(Schema):
    """The state of an address's subscription to an incident."""

    email = fields.text(format="email")
    subscribed = fields.flag()
