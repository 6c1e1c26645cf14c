"""The deliveries about an incident."""

import uuid

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.incidents.deliveries.models import Notification


def of_incident(session: Session, org_id: uuid.UUID, incident_id: uuid.UUID) -> list[Notification]:
    """Lists every delivery about an incident, oldest first."""
    query = select(Notification).where(
        Notification.org_id == org_id, Notification.incident_id == incident_id
    )
    return list(session.scalars(query.order_by(Notification.created_at, Notification.id)))
