"""Turns: begun by web within the limits, claimed by workers under leases, ended once."""

import time
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, and_, delete, func, or_, select, text
from sqlalchemy.orm import Session

from shared.assistant.limits import LEASE_SECS, MAX_TURNS, MAX_TURNS_OF_PERSON, MAX_WAIT_SECS
from shared.assistant.models import AssistantTurn
from shared.foundation.core.errors import RateLimited
from shared.foundation.postgres import leases, lock_until_commit, transaction_time
from shared.foundation.postgres.database import after_commit
from shared.foundation.queue import Queue
from shared.foundation.queue.jobs import ANSWER_QUESTIONS
from shared.foundation.queue.leased_step import HeldRow

# A turn takes seconds to minutes.
_RETRY_SECS = 5
# The rows stay for the usage of the billing windows that people can look at.
_KEPT_DAYS = 400


@dataclass
class ClaimedTurn(HeldRow[AssistantTurn]):
    """A turn that this worker holds.

    `had_worker`: an earlier worker took it and died. `is_late`: no worker came in time. Either way
    it is only ended. `claimed_at` is in seconds of the monotonic clock.
    """

    had_worker: bool
    is_late: bool
    claimed_at: float = field(default_factory=time.monotonic)

    @property
    def is_lost(self) -> bool:
        """Returns whether the turn must not be answered any more."""
        return self.had_worker or self.is_late


def begin(
    session: Session,
    queue: Queue,
    org_id: uuid.UUID,
    user_id: uuid.UUID,
    *,
    model: str,
    request: bytes,
    daily_tokens: int,
) -> uuid.UUID:
    """Queues a turn and nudges its workers after the commit; returns its id.

    Raises `RateLimited` if the person, the deployment or the organization's day has no room.
    """
    lock_until_commit(session, "turns of the assistant")
    of_person = _active() & (AssistantTurn.user_id == user_id)
    if _count(session, of_person) >= MAX_TURNS_OF_PERSON:
        raise _busy(f"you have {MAX_TURNS_OF_PERSON} questions open: wait for an answer")
    if _count(session, _active()) >= MAX_TURNS:
        raise _busy(f"the assistant answers {MAX_TURNS} questions already: try again soon")
    today = transaction_time(session)
    if tokens_since(session, org_id, _midnight(today)) >= daily_tokens:
        raise RateLimited(
            "the organization has used the assistant's tokens of today: an administrator can raise"
            " assistant.daily_tokens",
            code="assistant_budget",
            retry_after_secs=round((_midnight(today) + timedelta(days=1) - today).total_seconds()),
        )
    turn = AssistantTurn(org_id=org_id, user_id=user_id, model=model, request=request)
    session.add(turn)
    session.flush()
    after_commit(session, lambda: queue.nudge_soon(ANSWER_QUESTIONS))
    return turn.id


def claim(session: Session) -> ClaimedTurn | None:
    """Takes a turn that waits, or whose worker died; returns None if there is none."""
    found = session.execute(_NEXT, {"waited": MAX_WAIT_SECS}).one_or_none()
    if found is None:
        return None
    only = and_(AssistantTurn.org_id == found.org_id, AssistantTurn.id == found.id)
    lease, [(row,)] = leases.take(
        session, AssistantTurn, only, LEASE_SECS, (AssistantTurn,), state="running"
    )
    return ClaimedTurn(lease, row, found.had_worker, found.is_late)


def end(
    session: Session,
    turn: ClaimedTurn,
    state: str,
    *,
    tool_calls: int = 0,
    input_tokens: int = 0,
    output_tokens: int = 0,
) -> bool:
    """Ends a turn and removes its texts; returns False if this worker lost it."""
    return turn.lease.end(
        session,
        state=state,
        request=None,
        tool_calls=tool_calls,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        finished_at=func.statement_timestamp(),
    )


def owner_of(session: Session, org_id: uuid.UUID, turn_id: uuid.UUID) -> uuid.UUID | None:
    """Returns the person who asked; None if the organization has no such turn."""
    query = select(AssistantTurn.user_id)
    return session.scalar(query.where(AssistantTurn.org_id == org_id, AssistantTurn.id == turn_id))


def tokens_since(session: Session, org_id: uuid.UUID, start: datetime) -> int:
    """Returns the tokens of the organization's turns since a moment."""
    return tokens_between(session, org_id, start, None)


def tokens_between(
    session: Session, org_id: uuid.UUID, start: datetime, stop: datetime | None
) -> int:
    """Returns the tokens of the organization's turns that began in [start, stop)."""
    used = func.sum(AssistantTurn.input_tokens + AssistantTurn.output_tokens)
    return int(session.scalar(select(used).where(*_within(org_id, start, stop))) or 0)


def turns_between(session: Session, org_id: uuid.UUID, start: datetime, stop: datetime) -> int:
    """Counts the organization's turns that began in [start, stop)."""
    return session.scalar(select(func.count()).where(*_within(org_id, start, stop))) or 0


def tidy(session: Session) -> None:
    """Deletes turns that ended long ago."""
    old = func.now() - timedelta(days=_KEPT_DAYS)
    session.execute(delete(AssistantTurn).where(AssistantTurn.finished_at < old))


# A worker that died had the turn, so its frames are half written: it is only ended.
_NEXT = text("""
SELECT id, org_id,
    state = 'running' AS had_worker,
    created_at < statement_timestamp() - make_interval(secs => :waited) AS is_late
FROM assistant_turns
WHERE state = 'queued' OR (state = 'running' AND lease_expires_at <= statement_timestamp())
ORDER BY created_at
LIMIT 1
FOR UPDATE SKIP LOCKED
""")


def _active() -> ColumnElement[bool]:
    """Returns the condition for turns that take a place; those of dead workers take none."""
    present = func.statement_timestamp()
    waits = and_(
        AssistantTurn.state == "queued",
        AssistantTurn.created_at > present - timedelta(seconds=MAX_WAIT_SECS),
    )
    return or_(
        waits, and_(AssistantTurn.state == "running", AssistantTurn.lease_expires_at > present)
    )


def _count(session: Session, rows: ColumnElement[bool]) -> int:
    return session.scalar(select(func.count()).select_from(AssistantTurn).where(rows)) or 0


def _within(org_id: uuid.UUID, start: datetime, stop: datetime | None) -> list[ColumnElement[bool]]:
    bounds = [AssistantTurn.org_id == org_id, AssistantTurn.created_at >= start]
    return bounds if stop is None else [*bounds, AssistantTurn.created_at < stop]


def _midnight(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _busy(reason: str) -> RateLimited:
    return RateLimited(reason, code="assistant_busy", retry_after_secs=_RETRY_SECS)
