"""Taking a mail from the outbox and noting what came of it, by PostgreSQL's clock.

A mail that is taken is due again after a lease longer than any exchange with a mail server, so what
a killed worker had taken is sent by another one: each mail arrives at least once.
"""

import uuid
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

MAX_ERROR_CHARS = 500


@dataclass(frozen=True)
class ClaimedMail:
    """A mail in the hands of this worker; `attempt` counts from 1."""

    mail_id: uuid.UUID
    kind: str
    recipient: str
    context: dict[str, Any]
    request_id: str
    attempt: int


# Who waits for a code is served before a thousand invitations: the first to expire goes first. What
# is of a deleted organization is told to nobody, unless that is restored in time.
_TAKE = text("""
UPDATE mails
SET attempts = attempts + 1,
    next_attempt_at = statement_timestamp() + make_interval(secs => :lease)
WHERE id = (
    SELECT id FROM mails
    WHERE status = 'queued'
        AND next_attempt_at <= statement_timestamp()
        AND expires_at > statement_timestamp()
        AND NOT EXISTS (
            SELECT FROM organizations WHERE id = mails.org_id AND deleted_at IS NOT NULL)
    ORDER BY expires_at
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
RETURNING id, kind, recipient, context, request_id, attempts
""")

_EXPIRE = text("""
UPDATE mails
SET status = 'failed',
    finished_at = statement_timestamp(),
    last_error = left(concat_ws(': ', 'too late', last_error), :chars)
WHERE status = 'queued'
    AND next_attempt_at <= statement_timestamp()
    AND expires_at <= statement_timestamp()
RETURNING id, kind, request_id, last_error
""")

# Whoever has it now may send it once more, and finds it sent.
_SENT = text("""
UPDATE mails
SET status = 'sent', finished_at = statement_timestamp(), last_error = NULL
WHERE id = :id AND status = 'queued'
""")

# Not beyond its end, so that it does not wait for an attempt that never begins.
_AGAIN = text("""
UPDATE mails
SET next_attempt_at =
        least(statement_timestamp() + make_interval(secs => :after), expires_at),
    last_error = :error
WHERE id = :id AND status = 'queued' AND attempts = :attempt
""")

_FAILED = text("""
UPDATE mails
SET status = 'failed', finished_at = statement_timestamp(), last_error = :error
WHERE id = :id AND status = 'queued' AND attempts = :attempt
""")

_FORGET = text("DELETE FROM mails WHERE id = :id AND status = 'queued' AND attempts = :attempt")


def claim(session: Session, *, lease_secs: float) -> ClaimedMail | None:
    """Takes the due mail that expires first, for `lease_secs`; None when nothing is due."""
    row = session.execute(_TAKE, {"lease": lease_secs}).one_or_none()
    return None if row is None else ClaimedMail(*row)


@dataclass(frozen=True)
class Expired:
    """A mail that could not be sent in time."""

    mail_id: uuid.UUID
    kind: str
    request_id: str
    error: str


def expire(session: Session) -> list[Expired]:
    """Ends the due mails that no attempt may begin for any more; their error says so."""
    return [Expired(*row) for row in session.execute(_EXPIRE, {"chars": MAX_ERROR_CHARS})]


def sent(session: Session, mail: ClaimedMail) -> None:
    """Notes that the mail was taken by the mail server, even after the lease was over."""
    session.execute(_SENT, {"id": mail.mail_id})


def again(session: Session, mail: ClaimedMail, error: str, *, after_secs: float) -> None:
    """Gives the mail back, due in `after_secs`; nothing happens when the lease was lost."""
    session.execute(_AGAIN, {**_held(mail), "error": error, "after": after_secs})


def failed(session: Session, mail: ClaimedMail, error: str) -> None:
    """Ends the mail; nothing happens when the lease was lost."""
    session.execute(_FAILED, {**_held(mail), "error": error})


def forget(session: Session, mail: ClaimedMail) -> None:
    """Deletes a mail that is not to be sent; nothing happens when the lease was lost."""
    session.execute(_FORGET, _held(mail))


def _held(mail: ClaimedMail) -> dict[str, object]:
    return {"id": mail.mail_id, "attempt": mail.attempt}
