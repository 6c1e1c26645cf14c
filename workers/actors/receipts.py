"""Actors of receipts; the work is in `shared.intake.receipts`."""

from shared.foundation.queue.jobs import FLUSH_RECEIPTS, TIDY_RECEIPTS
from shared.intake.receipts import flushing
from workers.context import runtime
from workers.nudged import nudged_actor


@nudged_actor(FLUSH_RECEIPTS)
def flush_receipts() -> None:
    """Brings receipts from Redis into PostgreSQL."""
    flushing.flush_all(runtime().postgres, runtime().redis)


@nudged_actor(TIDY_RECEIPTS)
def tidy_receipts() -> None:
    """Deletes receipts that are older than 30 days."""
    with runtime().postgres.transaction() as session:
        flushing.tidy(session)
