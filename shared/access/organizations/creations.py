"""A record of everything that was created, for counters that include deleted things."""

import uuid
from datetime import datetime
from typing import Literal

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.access.organizations.models import Creation

Kind = Literal["query", "dashboard", "alert", "incident", "audit_run"]


def record(session: Session, org_id: uuid.UUID, kind: Kind) -> None:
    """Records one creation, in the transaction that creates the thing."""
    session.add(Creation(org_id=org_id, kind=kind))


def created_in(
    session: Session, org_id: uuid.UUID, kind: Kind, start: datetime, end: datetime
) -> int:
    """Counts the creations from `start` on and before `end`, including deleted things."""
    query = select(func.count()).where(
        Creation.org_id == org_id,
        Creation.kind == kind,
        Creation.created_at >= start,
        Creation.created_at < end,
    )
    return session.scalar(query) or 0
