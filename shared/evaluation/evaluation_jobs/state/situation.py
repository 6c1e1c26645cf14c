"""Reads from PostgreSQL everything that decides about the state of a session's evaluation."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs import breaker, evaluator_config
from shared.evaluation.evaluation_jobs.breaker import Breaker
from shared.evaluation.evaluation_jobs.listing import LISTED, LiveJob
from shared.evaluation.evaluation_jobs.models import LIVE, EvaluationJob, WatchedSession
from shared.evaluation.evaluation_jobs.scope import breaker_key
from shared.foundation.core.config import Settings


class SessionWatch(NamedTuple):
    """A row of `watched_sessions`; the fields are those of `WatchedSession`."""

    last_arrival_at: datetime
    check_at: datetime | None
    evaluated: bool
    idle_only: bool


class Situation(NamedTuple):
    """The rows about a session at `now`, which is PostgreSQL's time.

    `in_call`: a worker holds the live job at this moment. `started_at`: its first delivery.
    `timeout_secs` is the evaluator's inactivity timeout.
    """

    now: datetime
    job: LiveJob | None
    in_call: bool
    started_at: datetime | None
    watching: SessionWatch | None
    timeout_secs: float | None
    breaker: Breaker


_IN_CALL = func.coalesce(EvaluationJob.lease_expires_at > func.statement_timestamp(), False)
_WATCHING = [getattr(WatchedSession, name) for name in SessionWatch._fields]


def read(session: Session, settings: Settings, org_id: UUID, session_id: str) -> Situation:
    """Reads the situation of one session."""
    job = session.execute(
        select(*LISTED, _IN_CALL, EvaluationJob.started_at).where(
            EvaluationJob.org_id == org_id, EvaluationJob.session_id == session_id, text(LIVE)
        )
    ).one_or_none()
    watching = session.execute(
        select(*_WATCHING).where(
            WatchedSession.org_id == org_id, WatchedSession.session_id == session_id
        )
    ).one_or_none()
    return Situation(
        now=session.scalars(select(func.statement_timestamp())).one(),
        job=None if job is None else LiveJob(*job[:-2]),
        in_call=job is not None and job[-2],
        started_at=None if job is None else job[-1],
        watching=None if watching is None else SessionWatch(*watching),
        timeout_secs=evaluator_config.current(session, settings).inactivity_timeout_secs,
        breaker=breaker.current(session, breaker_key(settings)),
    )
