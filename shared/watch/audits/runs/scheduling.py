"""Queues audits that are due: each gets a run and its next due time, in one transaction.

Two processes that look at once, or a repeated message, queue nothing twice: only the transaction
that locks an audit first finds it due.
"""

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from shared.access.organizations.models import Organization
from shared.foundation.postgres import Postgres, transaction_time
from shared.foundation.queue import Queue
from shared.watch.audits.models import Audit
from shared.watch.audits.runs import requests as runs
from shared.watch.audits.schedule import next_point

BATCH = 100


def schedule(postgres: Postgres, queue: Queue) -> int:
    """Queues a run of every audit that is due; returns the number of new runs."""
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
    """Queues a run unless one is live.

    A queued run counts for this due time, a running one does not.

    An audit that is late runs once, and then at the next due time in the future.
    """
    now = transaction_time(session)
    live = runs.live_run(session, audit)
    if live is None:
        runs.enqueue(session, queue, audit, "scheduled")
    elif live.status == "running":
        audit.last_error = "a run was skipped because the previous one had not ended"
    audit.next_attempt_at = next_point(now, audit.schedule_anchor, audit.schedule_interval_secs)
    return live is None
