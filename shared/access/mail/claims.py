"""Claims mails from the outbox and records their outcomes, by PostgreSQL's clock.

A claimed mail is due again after a lease longer than any exchange with a mail server. So another
worker sends the mails of a killed one: each mail arrives at least once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, and_, delete, func, select, text, update
from sqlalchemy.orm import Session

from shared.access.mail.models import Mail
from shared.foundation.core.attempts import Again, Failed, Sent
from shared.foundation.postgres.leases import in_secs

MAX_ERROR_CHARS = 500

# The mail that expires first goes first, so a sign-in code does not wait for a thousand
# invitations. Mails of a deleted organization are not sent, unless it is restored in time.
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
RETURNING *
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
    """The recipient is to get no such mail; the row is deleted."""


Outcome = Sent | Again | Failed | Forgotten


def claim(session: Session, *, lease_secs: float) -> Mail | None:
    """Takes the due mail that expires first, for `lease_secs`; returns None if nothing is due."""
    query = select(Mail).from_statement(_TAKE)
    mail: Mail | None = session.scalar(query, {"lease": lease_secs})
    return mail


def expire(session: Session) -> Sequence[Row[*tuple[Any, ...]]]:
    """Ends due mails for which no attempt may begin any more; their error says so.

    Returns the id, kind, request_id and last_error of each.
    """
    return session.execute(_EXPIRE, {"chars": MAX_ERROR_CHARS}).all()


def record(session: Session, mail: Mail, outcome: Outcome) -> None:
    """Records the outcome of an attempt; after a lost lease, only that the mail was sent."""
    now = func.statement_timestamp()
    queued = and_(Mail.id == mail.id, Mail.status == "queued")
    # The number of the attempt serves as a lease's token: the next claim increases it.
    held = and_(queued, Mail.attempts == mail.attempts)
    if isinstance(outcome, Sent):
        # Another worker that has claimed the mail since may send it once more, and finds it sent.
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
