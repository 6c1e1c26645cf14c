"""Comments on incidents."""

import uuid

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from shared.foundation.core.actor import Actor
from shared.foundation.core.errors import Conflict, Forbidden
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import present_time
from shared.foundation.postgres.rows import require_row
from shared.watch.incidents import activity, mails, rows, subscribers
from shared.watch.incidents.details import CommentDetail
from shared.watch.incidents.models import Incident, IncidentComment
from shared.watch.incidents.rules import MAX_COMMENTS, checked_body

# The permission to delete comments of others.
MODERATES = "incidents:write"


def list_(
    session: Session, org_id: uuid.UUID, incident_id: str | uuid.UUID
) -> list[IncidentComment]:
    """Lists all comments, oldest first, with tombstones of deleted ones; raises `NotFound`."""
    incident = rows.get(session, org_id, incident_id)
    oldest_first = _of(incident).order_by(IncidentComment.created_at, IncidentComment.id)
    return list(session.scalars(oldest_first))


def create(
    session: Session, runtime: Runtime, org_id: uuid.UUID, incident_id: str, actor: Actor, body: str
) -> IncidentComment:
    """Adds a comment, also to a resolved incident, and subscribes the actor.

    Raises `NotFound`, `Invalid` naming `body`, and `Conflict` (`too_many`) if there are 2000
    comments, including deleted ones.
    """
    said = checked_body(body)
    incident = rows.changeable(session, org_id, incident_id)
    number = session.scalar(_of(incident).with_only_columns(func.count())) or 0
    if number >= MAX_COMMENTS:
        raise Conflict(f"an incident can have at most {MAX_COMMENTS} comments", code="too_many")
    at = present_time(session)
    comment = IncidentComment(
        org_id=org_id,
        incident_id=incident.id,
        author_id=actor.id,
        author_email=actor.name,
        body=said,
        created_at=at,
    )
    session.add(comment)
    session.flush()
    subscribers.add_actor(session, incident, actor, "comment", at)
    detail: CommentDetail = {"comment_id": str(comment.id)}
    activity.record(session, incident, "commented", actor.name, at, detail)
    mails.tell(session, runtime, incident, "commented", actor, said)
    return comment


def delete(
    session: Session,
    org_id: uuid.UUID,
    incident_id: str,
    comment_id: str,
    actor: Actor,
    *,
    permissions: frozenset[str],
) -> None:
    """Replaces a comment by a tombstone without its body.

    Raises `NotFound`, also for a comment that is already deleted, and `Forbidden` naming
    `incidents:write` for another author's comment if `permissions` lack it.
    """
    incident = rows.changeable(session, org_id, incident_id)
    undeleted = _of(incident).where(IncidentComment.deleted_at.is_(None))
    comment = require_row(session, undeleted, IncidentComment.id, comment_id, "comment")
    if comment.author_id != actor.id and MODERATES not in permissions:
        raise Forbidden(
            f"you need the permission {MODERATES} to delete comments of others",
            required_permission=MODERATES,
        )
    comment.body, comment.deleted_at = None, present_time(session)
    detail: CommentDetail = {"comment_id": str(comment.id)}
    activity.record(session, incident, "comment_deleted", actor.name, comment.deleted_at, detail)


def _of(incident: Incident) -> Select[IncidentComment]:
    return select(IncidentComment).where(
        IncidentComment.org_id == incident.org_id, IncidentComment.incident_id == incident.id
    )
