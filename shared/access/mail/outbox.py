"""Adds mails to the outbox: a mail is sent if, and only if, the caller's transaction commits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import func
from sqlalchemy.orm import Session

from shared.access.mail.kinds import KINDS
from shared.access.mail.models import Mail
from shared.foundation.core.ids import new_id, new_request_id
from shared.foundation.core.logs import current_request_id
from shared.foundation.postgres import after_commit
from shared.foundation.queue import Queue
from shared.foundation.queue.jobs import SEND_MAIL


@dataclass(frozen=True)
class Letter:
    """A mail to be sent; `kind` is one of `mail.kinds.KINDS`, which names its context.

    `org_id` is the organization it is about, None if there is none. `context` is JSON and is stored
    in clear: it must not contain secrets.
    """

    kind: str
    recipient: str
    org_id: UUID | None = None
    context: Mapping[str, Any] = field(default_factory=dict)


def enqueue(session: Session, queue: Queue, letter: Letter) -> UUID:
    """Adds a mail to the outbox within the session's transaction; returns its id.

    Nudges the workers after the commit. Raises `ValueError` for an unknown kind or a context with
    other fields than the kind's, which is a mistake of the caller.
    """
    kind = KINDS.get(letter.kind)
    if kind is None:
        raise ValueError(f"there is no mail of the kind {letter.kind!r}")
    if letter.context.keys() != kind.fields:
        raise ValueError(f"the context of a mail {letter.kind!r} has {sorted(kind.fields)}")
    mail = Mail(
        id=new_id(),
        org_id=letter.org_id,
        kind=letter.kind,
        recipient=letter.recipient,
        context=dict(letter.context),
        expires_at=func.clock_timestamp() + kind.max_age,
        request_id=current_request_id() or new_request_id(),
    )
    session.add(mail)
    after_commit(session, lambda: queue.nudge_soon(SEND_MAIL))
    return mail.id
