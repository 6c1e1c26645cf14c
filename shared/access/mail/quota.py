"""The mails that an organization may send in a day: its members choose the addresses.

Without it, a member who may invite, write alerts or comment could send any number of mails in the
operator's name.
"""

import uuid
from datetime import timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.access.mail.models import Mail
from shared.access.mail.outbox import Letter, enqueue
from shared.foundation.core.clock import now
from shared.foundation.core.config import Settings
from shared.foundation.core.errors import RateLimited
from shared.foundation.core.logs import get_logger
from shared.foundation.queue import Queue

log = get_logger(__name__)

_DAY = timedelta(days=1)


def left(session: Session, config: Settings, org_id: uuid.UUID) -> int:
    """Returns how many mails the organization may still send; negative if it sent too many."""
    sent = select(func.count()).where(Mail.org_id == org_id, Mail.created_at > now() - _DAY)
    return config.org_mails_per_day - (session.scalar(sent) or 0)


def require_left(session: Session, config: Settings, org_id: uuid.UUID) -> None:
    """Raises `RateLimited` if the organization has sent its mails of the last 24 hours."""
    if left(session, config, org_id) > 0:
        return
    mails = select(Mail.created_at).where(Mail.org_id == org_id, Mail.created_at > now() - _DAY)
    newest = mails.order_by(Mail.created_at.desc()).offset(config.org_mails_per_day - 1).limit(1)
    frees_at = (session.scalar(newest) or now()) + _DAY
    raise RateLimited(
        f"the organization has sent its {config.org_mails_per_day} mails of 24 hours: try later",
        code="mails_used_up",
        retry_after_secs=max(1, int((frees_at - now()).total_seconds())),
    )


def enqueue_within_quota(
    session: Session, queue: Queue, config: Settings, letter: Letter
) -> uuid.UUID | None:
    """Adds a mail of an organization to the outbox as `enqueue` does; returns its id.

    It is left out, with a line in the log, once the organization has sent its mails of a day: the
    change that it reports happens all the same.
    """
    if letter.org_id is not None and left(session, config, letter.org_id) <= 0:
        log.warning("mail_left_out", kind=letter.kind, org_id=str(letter.org_id))
        return None
    return enqueue(session, queue, letter)
