"""Locks between processes: one skips the work that another one does, or waits for it."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.foundation.postgres.database import Postgres

# Separates these locks from the project's other advisory locks, which are single numbers.
_NAMESPACE = 7_237
_WAITING = 7_238


@contextmanager
def single_flight(postgres: Postgres, name: str) -> Iterator[bool]:
    """Yields whether the block is the only one of this `name` that runs in the deployment.

    Never waits: a caller that gets False leaves the work to the holder of the lock. The lock is an
    advisory one and ends with its connection, so a killed process blocks no other.
    """
    with postgres.transaction() as session:
        taken = session.scalar(
            text("SELECT pg_try_advisory_xact_lock(:namespace, hashtext(:name))"),
            {"namespace": _NAMESPACE, "name": name},
        )
        yield bool(taken)


def lock_until_commit(session: Session, name: str) -> None:
    """Waits until no other transaction holds the lock of this `name`; holds it until this one ends.

    For writers that lock many rows in different orders: they take this lock before any row, so they
    cannot deadlock. Also for a transaction that counts places and takes some.
    """
    session.execute(
        text("SELECT pg_advisory_xact_lock(:namespace, hashtext(:name))"),
        {"namespace": _WAITING, "name": name},
    )
