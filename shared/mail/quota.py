"""How many mails an organization may have sent: its members choose the addresses.

Without it, whoever may invite or write alerts could send any number of mails in the operator's
name.
"""

import uuid
from datetime import timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.core.clock import now
from shared.core.config import Settings
from shared.core.errors import RateLimited
from shared.mail.models import Mail

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
