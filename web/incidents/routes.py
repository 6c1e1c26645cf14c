"""Incidents: open, assign, comment on and resolve them."""

from typing import Any

from flask import Response

from shared.watch.alerts import service as alerts
from shared.watch.alerts.evaluation.around import values_around
from shared.watch.alerts.evaluation.triggers.interface import RuleContext
from shared.watch.alerts.models import Alert
from shared.watch.alerts.opening import reported
from shared.watch.alerts.resolution import begin_after
from shared.watch.audits.findings.incident import resolve_with_finding
from shared.watch.incidents import (
    activity,
    comments,
    lifecycle,
    listing,
    manual,
    service,
    subscribers,
)
from shared.watch.incidents import rows as incidents
from shared.watch.incidents.deliveries import service as notifications
from shared.watch.incidents.deliveries.models import Notification
from shared.watch.incidents.folding import OpenedIncident
from shared.watch.incidents.models import Incident, IncidentComment, IncidentSubscriber
from shared.watch.incidents.rules import OPEN_STATES, STATES
from shared.watch.incidents.subscribers import Subscription
from web.alerts.rows import preview_row
from web.alerts.schemas import AlertPreview
from web.auth import current_actor, current_identity, current_org_id, requires, requires_any
from web.blueprint import Blueprint
from web.incidents import schemas
from web.responses import no_content, row_of
from web.state import published_schema, runtime, state
from web.transaction import Tx, in_transaction

blueprint = Blueprint("incidents", "Problems that need people, and their work on them")


@blueprint.route("/alerts/incidents")
@requires("incidents:read")
@blueprint.arguments(schemas.ListQuery, location="query")
@blueprint.response(200, schemas.IncidentRow(many=True))
@in_transaction
def list_incidents(tx: Tx, query: dict[str, Any]) -> list[Incident]:
    """List incidents, newest first; by default the open ones."""
    return listing.list_(*tx, _filter(query), limit=query["limit"])


@blueprint.route("/alerts/incidents/count")
@requires("incidents:read")
@blueprint.arguments(schemas.CountQuery, location="query")
@blueprint.response(200, schemas.IncidentCount)
@in_transaction
def count_incidents(tx: Tx, query: dict[str, Any]) -> dict[str, int]:
    """Count incidents; by default the open ones."""
    return {"count": listing.count(*tx, _filter(query))}


@blueprint.route("/alerts/<alert_id>/incidents")
@requires("incidents:read")
@blueprint.arguments(schemas.AlertListQuery, location="query")
@blueprint.response(200, schemas.IncidentRow(many=True))
@in_transaction
def list_alert_incidents(tx: Tx, query: dict[str, Any], alert_id: str) -> list[Incident]:
    """List the incidents of an alert, newest first; by default those in any state."""
    wanted = listing.IncidentFilter(states=query["state"] or STATES, alert_ids=[alert_id])
    alerts.get(*tx, alert_id)
    return listing.list_(*tx, wanted, limit=query["limit"])


@blueprint.route("/alerts/<alert_id>/incidents", methods=["POST"])
@requires("incidents:write")
@blueprint.arguments(schemas.OpenBody)
@blueprint.response(201, schemas.OpenedRow)
@blueprint.alt_response(
    200, schema=schemas.OpenedRow, description="The alert has an open incident already"
)
@in_transaction
def open_alert_incident(tx: Tx, body: dict[str, Any], alert_id: str) -> tuple[dict[str, Any], int]:
    """Open an incident of an alert by hand and announce it over the alert's channels.

    If the alert has an open incident, the report is added to that one and not announced.
    """
    alert, _ = alerts.get(*tx, alert_id)
    opening = reported(alert, current_actor(), body["summary"], body["title"])
    return _opened(service.open_incident(tx.session, runtime(), opening))


@blueprint.route("/alerts/incidents", methods=["POST"])
@requires("incidents:write")
@blueprint.arguments(schemas.StandaloneBody)
@blueprint.response(201, schemas.OpenedRow)
@in_transaction
def open_incident(tx: Tx, body: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Open an incident by hand that belongs to no alert. It is not announced."""
    opening = manual.standalone(
        tx.org_id, current_actor(), body["summary"], body["title"], body["severity"]
    )
    return _opened(service.open_incident(tx.session, runtime(), opening))


@blueprint.route("/alerts/incidents/<incident_id>")
@requires("incidents:read")
@blueprint.response(200, schemas.IncidentDetail)
@in_transaction
def get_incident(tx: Tx, incident_id: str) -> dict[str, Any]:
    """Read one incident with its notifications, subscribers, comments and activity."""
    found = incidents.get(*tx, incident_id)
    return row_of(
        schemas.IncidentDetail,
        found,
        notifications=notifications.list_(*tx, found.id),
        subscribers=subscribers.list_(*tx, found.id),
        comments=comments.list_(*tx, found.id),
        activity=activity.of_incident(*tx, found.id),
    )


@blueprint.route("/alerts/incidents/<incident_id>/values")
@requires("incidents:read")
@blueprint.response(200, AlertPreview, errors=(429, 504))
def get_incident_values(incident_id: str) -> dict[str, Any]:
    """Read the values of the incident's own rule, from 6 hours before it opened.

    They end an hour after its last breach or its resolution. An incident without a rule, or of
    SQL, has no points.
    """
    context = RuleContext(runtime(), state().queries, current_identity().org_id)
    with runtime().postgres.transaction() as session:
        found = incidents.get(session, current_org_id(), incident_id)
        alert = None if found.alert_id is None else session.get(Alert, found.alert_id)
        session.expunge_all()
    return preview_row(values_around(context, found, alert, schema=published_schema()))


@blueprint.route("/alerts/incidents/<incident_id>/ack", methods=["POST"])
@requires("incidents:ack")
@blueprint.response(200, schemas.IncidentRow, errors=(409,))
@in_transaction
def acknowledge_incident(tx: Tx, incident_id: str) -> Incident:
    """Acknowledge an incident and subscribe to it.

    `acknowledged_at` and `acknowledged_by` keep the first acknowledgement. The activity also shows
    those of other people.
    """
    return lifecycle.acknowledge(tx.session, runtime(), tx.org_id, incident_id, current_actor())


@blueprint.route("/alerts/incidents/<incident_id>/assign", methods=["POST"])
@requires("incidents:ack")
@blueprint.arguments(schemas.AssignBody)
@blueprint.response(200, schemas.IncidentRow, errors=(409,))
@in_transaction
def assign_incident(tx: Tx, body: dict[str, Any], incident_id: str) -> Incident:
    """Replace the assignees of an incident: none to at most 50 active members."""
    field, emails = _assigned(body)
    return lifecycle.assign(
        tx.session, runtime(), tx.org_id, incident_id, current_actor(), emails, field=field
    )


@blueprint.route("/alerts/incidents/<incident_id>/resolve", methods=["POST"])
@requires("incidents:ack")
@blueprint.arguments(schemas.ResolveBody)
@blueprint.response(200, schemas.IncidentRow, errors=(409,))
@in_transaction
def resolve_incident(tx: Tx, body: dict[str, Any], incident_id: str) -> Incident:
    """Resolve an incident for good, with the finding that it came from, and announce it.

    The rule of the incident is judged only by what happens after the resolution, or after
    `snooze_secs` more. A statement of `custom_sql` names its own window.
    """
    begin_after(*tx, incident_id, snooze_secs=body["snooze_secs"])
    return resolve_with_finding(tx.session, runtime(), tx.org_id, incident_id, current_actor())


@blueprint.route("/alerts/incidents/<incident_id>/send-again", methods=["POST"])
@requires("incidents:ack")
@blueprint.response(200, schemas.IncidentNotification(many=True))
@in_transaction
def send_again(tx: Tx, incident_id: str) -> list[Notification]:
    """Send the failed notifications about an incident again; return all of them, oldest first."""
    return notifications.send_again(tx.session, runtime(), tx.org_id, incident_id)


@blueprint.route("/alerts/incidents/<incident_id>/comments")
@requires("incidents:read")
@blueprint.response(200, schemas.CommentRow(many=True))
@in_transaction
def list_comments(tx: Tx, incident_id: str) -> list[IncidentComment]:
    """List the comments on an incident, oldest first, deleted ones without their body."""
    return comments.list_(*tx, incident_id)


@blueprint.route("/alerts/incidents/<incident_id>/comments", methods=["POST"])
@requires("incidents:ack")
@blueprint.arguments(schemas.CommentBody)
@blueprint.response(201, schemas.CommentRow, errors=(409,))
@in_transaction
def add_comment(tx: Tx, body: dict[str, Any], incident_id: str) -> IncidentComment:
    """Comment on an incident, open or resolved. It has at most 2000 comments."""
    return comments.create(
        tx.session, runtime(), tx.org_id, incident_id, current_actor(), body["body"]
    )


@blueprint.route("/alerts/incidents/<incident_id>/comments/<comment_id>", methods=["DELETE"])
@requires_any("incidents:ack", comments.MODERATES)
@blueprint.needs_for_others(comments.MODERATES)
@blueprint.response(204)
@in_transaction
def delete_comment(tx: Tx, incident_id: str, comment_id: str) -> Response:
    """Delete a comment of your own. Deleting another person's comment needs `incidents:write`."""
    permissions = current_identity().permissions
    comments.delete(*tx, incident_id, comment_id, current_actor(), permissions=permissions)
    return no_content()


@blueprint.route("/alerts/incidents/<incident_id>/subscribers")
@requires("incidents:read")
@blueprint.response(200, schemas.SubscriberRow(many=True))
@in_transaction
def list_subscribers(tx: Tx, incident_id: str) -> list[IncidentSubscriber]:
    """List the current subscribers of an incident."""
    return subscribers.list_(*tx, incident_id)


@blueprint.route("/alerts/incidents/<incident_id>/subscribe", methods=["POST"])
@requires("incidents:ack")
@blueprint.arguments(schemas.SubscriptionBody)
@blueprint.response(200, schemas.SubscriptionRow)
@in_transaction
def subscribe_to_incident(tx: Tx, body: dict[str, Any], incident_id: str) -> Subscription:
    """Subscribe an active member to an incident, by mail."""
    return subscribers.subscribe(*tx, incident_id, current_actor(), body["email"])


@blueprint.route("/alerts/incidents/<incident_id>/unsubscribe", methods=["POST"])
@requires("incidents:ack")
@blueprint.arguments(schemas.SubscriptionBody)
@blueprint.response(200, schemas.SubscriptionRow)
@in_transaction
def unsubscribe_from_incident(tx: Tx, body: dict[str, Any], incident_id: str) -> Subscription:
    """End a subscription until the member acts on the incident or is assigned to it again."""
    return subscribers.unsubscribe(*tx, incident_id, current_actor(), body["email"])


def _filter(query: dict[str, Any]) -> listing.IncidentFilter:
    return listing.IncidentFilter(
        states=query["state"] or OPEN_STATES,
        alert_ids=query["alert_id"],
        resolved_since=query["resolved_since"],
    )


def _opened(opened: OpenedIncident) -> tuple[dict[str, Any], int]:
    row = row_of(schemas.OpenedRow, opened.incident, newly_opened=opened.newly_opened)
    return row, 201 if opened.newly_opened else 200


def _assigned(body: dict[str, Any]) -> tuple[str, list[str] | None]:
    """Returns the field that the body used for the assignees, and the assignees."""
    if "assignees" in body or "assigned_to" not in body:
        return "assignees", body.get("assignees")
    one = body["assigned_to"]
    return "assigned_to", [] if one is None else [one]
