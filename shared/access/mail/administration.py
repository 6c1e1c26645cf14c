"""Operator functions for the outbox (list, retry, drop), and the deletion of old mails."""

import uuid
from collections.abc import Sequence

from sqlalchemy import delete as sql_delete
from sqlalchemy import func, select, text, update
from sqlalchemy.orm import Session

from shared.access.mail.kinds import KINDS
from shared.access.mail.models import Mail

KEEP_SENT_DAYS = 30
KEEP_FAILED_DAYS = 90

_TIDY = text("""
DELETE FROM mails
WHERE (status = 'sent' AND finished_at < now() - make_interval(days => :sent))
    OR (status = 'failed' AND finished_at < now() - make_interval(days => :failed))
RETURNING id
""")


def list_(
    session: Session, *, status: str | None, org_id: uuid.UUID | None, limit: int
) -> Sequence[Mail]:
    """Lists mails, the newest first."""
    query = select(Mail).order_by(Mail.created_at.desc(), Mail.id).limit(limit)
    if status is not None:
        query = query.where(Mail.status == status)
    if org_id is not None:
        query = query.where(Mail.org_id == org_id)
    return session.scalars(query).all()


def retry(session: Session, mail_ids: Sequence[uuid.UUID] | None) -> list[uuid.UUID]:
    """Queues failed mails again, all of them for None, with as much time as new ones.

    Returns their ids. Leaves out sign-in codes, because people can request another one.
    """
    queued: list[uuid.UUID] = []
    for name, kind in KINDS.items():
        if kind.made_when_sent:
            continue
        query = update(Mail).where(Mail.status == "failed", Mail.kind == name)
        if mail_ids is not None:
            query = query.where(Mail.id.in_(mail_ids))
        queued += session.scalars(
            query.values(
                status="queued",
                attempts=0,
                next_attempt_at=func.clock_timestamp(),
                expires_at=func.clock_timestamp() + kind.max_age,
                finished_at=None,
            ).returning(Mail.id)
        )
    return queued


def delete(session: Session, mail_ids: Sequence[uuid.UUID] | None) -> list[uuid.UUID]:
    """Deletes failed mails, all of them for None; returns their ids."""
    query = sql_delete(Mail).where(Mail.status == "failed")
    if mail_ids is not None:
        query = query.where(Mail.id.in_(mail_ids))
    return list(session.scalars(query.returning(Mail.id)))


def tidy(session: Session) -> int:
    """Deletes mails that were sent 30 days ago or failed 90 days ago; returns the number."""
    gone = session.execute(_TIDY, {"sent": KEEP_SENT_DAYS, "failed": KEEP_FAILED_DAYS})
    return len(gone.all())
