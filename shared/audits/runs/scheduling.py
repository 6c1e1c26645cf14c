"""Queueing what is due: each audit that is due gets a run and its next point, in one transaction.

Two processes that look at once, or a message that comes twice, queue nothing twice: whoever has
locked an audit finds it due, and nobody after that does.
"""

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from shared.audits.models import Audit
from shared.audits.runs import requests as runs
from shared.audits.schedule import next_point
from shared.organizations.models import Organization
from shared.postgres import Postgres, transaction_time
from shared.queue import Queue

BATCH = 100


def schedule(postgres: Postgres, queue: Queue) -> int:
    """Queues a run of every audit that is due; returns how many runs are new."""
    queued = 0
    while True:
        with postgres.transaction() as session:
            due = list(session.scalars(_due()))
            queued += sum(_attempt(session, queue, audit) for audit in due)
        if len(due) < BATCH:
            return queued


def _due() -> Select[Audit]:
    return (
        select(Audit)
        .join(Organization, Organization.id == Audit.org_id)
        .where(
            Audit.next_attempt_at <= func.statement_timestamp(), Organization.deleted_at.is_(None)
        )
        .order_by(Audit.next_attempt_at)
        .limit(BATCH)
        .with_for_update(of=Audit, skip_locked=True)
    )


def _attempt(session: Session, queue: Queue, audit: Audit) -> bool:
    """Queues a run unless one is live: a queued one does for this point, a running one misses it.

    However late it is, an audit that is due runs once, and then at the first point that is ahead.
    """
    now = transaction_time(session)
    live = runs.live_run(session, audit)
    if live is None:
        runs.enqueue(session, queue, audit, "scheduled")
    elif live.status == "running":
        audit.last_error = "a run was left out because the one before it had not ended"
    audit.next_attempt_at = next_point(now, audit.schedule_anchor, audit.schedule_interval_secs)
    return live is None
