"""Repricings as people see them: requested, listed, cancelled."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.access import audit_log
from shared.foundation.core.bounds import require_optional_text
from shared.foundation.core.clock import to_us
from shared.foundation.core.errors import Conflict, Invalid
from shared.foundation.core.ids import new_id, new_request_id
from shared.foundation.core.logs import current_request_id
from shared.foundation.postgres import after_commit, transaction_time
from shared.foundation.postgres.rows import flush_unique, require_row
from shared.foundation.queue import Queue
from shared.foundation.queue.jobs import REPRICE_CALLS
from shared.upkeep.repricings.figures import RepricingFigures
from shared.upkeep.repricings.models import Repricing
from shared.upkeep.rewriting.places import Place, months_between

DEFAULT_PAGE, MAX_PAGE = 20, 100
MAX_RANGE = timedelta(days=400)
FILTERS = ("model", "agent_id", "environment")
MAX_FILTER_LENGTH = 256
_RUNNING = Conflict(
    "a repricing of this organization is under way: wait until it has ended, or cancel it",
    code="repricing_running",
)


@dataclass(frozen=True)
class WantedRepricing:
    """The calls to price again: from `start` to before `stop`; None admits all."""

    start: datetime
    stop: datetime
    model: str | None = None
    agent_id: str | None = None
    environment: str | None = None
    dry_run: bool = True


def request(
    session: Session, queue: Queue, org_id: uuid.UUID, wanted: WantedRepricing, requested_by: str
) -> Repricing:
    """Queues a repricing.

    Raises `Invalid` for its range or a filter, and `Conflict` while one lives.
    """
    filters = {
        name: require_optional_text(name, getattr(wanted, name), most=MAX_FILTER_LENGTH)
        for name in FILTERS
    }
    if not wanted.start < wanted.stop:
        raise Invalid.field("to", "must be later than from")
    if wanted.stop - wanted.start > MAX_RANGE:
        raise Invalid.field("to", f"must be at most {MAX_RANGE.days} days after from")
    repricing = Repricing(
        id=new_id(),
        org_id=org_id,
        dry_run=wanted.dry_run,
        starts_at=wanted.start,
        ends_at=wanted.stop,
        requested_by=requested_by,
        request_id=current_request_id() or new_request_id(),
        **filters,
    )
    session.add(repricing)
    flush_unique(session, {"uq_repricings_live": _RUNNING})
    if not wanted.dry_run:
        audit_log.record(
            session,
            org_id,
            "repricing.run",
            target=repricing.id,
            after={"from": wanted.start, "to": wanted.stop, **filter_of(repricing)},
        )
    after_commit(session, lambda: queue.nudge_soon(REPRICE_CALLS))
    return repricing


def list_(session: Session, org_id: uuid.UUID, *, limit: int) -> list[Repricing]:
    """Lists repricings, newest first."""
    query = select(Repricing).where(Repricing.org_id == org_id)
    return list(
        session.scalars(query.order_by(Repricing.created_at.desc(), Repricing.id).limit(limit))
    )


def get(session: Session, org_id: uuid.UUID, repricing_id: str) -> Repricing:
    """Returns one repricing; raises `NotFound`."""
    rows = select(Repricing).where(Repricing.org_id == org_id)
    return require_row(session, rows, Repricing.id, repricing_id, "repricing")


def cancel(session: Session, queue: Queue, org_id: uuid.UUID, repricing_id: str) -> Repricing:
    """Ends a repricing: at once if no worker has begun it, else after its round.

    What was priced again stays so. Raises `NotFound`, and `Conflict` for one that has ended.
    """
    rows = select(Repricing).where(Repricing.org_id == org_id).with_for_update()
    repricing = require_row(session, rows, Repricing.id, repricing_id, "repricing")
    if repricing.state not in ("queued", "running"):
        raise Conflict("this repricing has ended", code="repricing_ended")
    repricing.is_cancelled = True
    if repricing.state == "queued":
        repricing.state = "cancelled"
        repricing.finished_at = transaction_time(session)
        record_end(session, repricing)
    after_commit(session, lambda: queue.nudge_soon(REPRICE_CALLS))
    return repricing


def record_end(session: Session, repricing: Repricing) -> None:
    """Adds the second line of a run to the audit log; a dry run has none."""
    if repricing.dry_run:
        return
    result = RepricingFigures.of(repricing.figures).result()
    named = ("calls", "changed", "before_usd", "after_usd")
    audit_log.record(
        session,
        repricing.org_id,
        "repricing.end",
        target=repricing.id,
        after={"state": repricing.state, **{name: result[name] for name in named}},
    )


def filter_of(repricing: Repricing) -> dict[str, str]:
    """Returns the filter of a repricing, without what it does not name."""
    found = {name: getattr(repricing, name) for name in FILTERS}
    return {name: value for name, value in found.items() if value is not None}


def progress_of(repricing: Repricing) -> dict[str, int]:
    """Returns the months of a repricing, those that are done, and the calls so far."""
    start, stop = to_us(repricing.starts_at), to_us(repricing.ends_at)
    months = months_between(start, stop)
    place = start if repricing.counted is None else Place.of(repricing.counted).ts
    # The month of a place is done when the place is in the next one.
    done = months_between(start, place + 1) - 1 if place < stop else months
    calls = RepricingFigures.of(repricing.figures).calls
    return {"months": months, "months_done": done, "calls": calls}


def result_of(repricing: Repricing) -> dict[str, Any] | None:
    """Returns the result of a repricing that has ended; of a cancelled one as far as it came."""
    if repricing.state not in ("done", "cancelled"):
        return None
    return RepricingFigures.of(repricing.figures).result()
