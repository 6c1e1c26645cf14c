"""Taking a mail from the outbox and noting what came of it, by PostgreSQL's clock.

A mail that is taken is due again after a lease longer than any exchange with a mail server, so what
a killed worker had taken is sent by another one: each mail arrives at least once.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, and_, delete, func, text, update
from sqlalchemy.orm import Session

from shared.core.attempts import Again, Failed, Sent
from shared.mail.models import Mail
from shared.postgres.leases import in_secs

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


@dataclass(frozen=True)
class Forgotten:
    """The recipient is to get no such mail; no trace is kept."""


Outcome = Sent | Again | Failed | Forgotten


def claim(session: Session, *, lease_secs: float) -> ClaimedMail | None:
    """Takes the due mail that expires first, for `lease_secs`; None when nothing is due."""
    row = session.execute(_TAKE, {"lease": lease_secs}).one_or_none()
    return None if row is None else ClaimedMail(*row)


def expire(session: Session) -> Sequence[Row[*tuple[Any, ...]]]:
    """Ends the due mails that no attempt may begin for any more; their error says so.

    Returns the id, kind, request_id and last_error of each.
    """
    return session.execute(_EXPIRE, {"chars": MAX_ERROR_CHARS}).all()


def record(session: Session, mail: ClaimedMail, outcome: Outcome) -> None:
    """Notes what came of an attempt; after a lost lease, only that the mail was sent."""
    now = func.statement_timestamp()
    queued = and_(Mail.id == mail.mail_id, Mail.status == "queued")
    # The number of the attempt stands for a lease's token: the next claim counts it up.
    held = and_(queued, Mail.attempts == mail.attempt)
    if isinstance(outcome, Sent):
        # Another worker that claimed the mail since may send it once more, and finds it sent.
        change = update(Mail).where(queued)
        session.execute(change.values(status="sent", finished_at=now, last_error=None))
    elif isinstance(outcome, Again):
        # Not beyond its end, so that it does not wait for an attempt that never begins.
        next_at = func.least(in_secs(outcome.after_secs), Mail.expires_at)
        change = update(Mail).where(held)
        session.execute(change.values(next_attempt_at=next_at, last_error=outcome.error))
    elif isinstance(outcome, Failed):
        change = update(Mail).where(held)
        session.execute(change.values(status="failed", finished_at=now, last_error=outcome.error))
    else:
        session.execute(delete(Mail).where(held))
