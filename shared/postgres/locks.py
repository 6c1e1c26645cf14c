"""Work that one process at a time does: by leaving it to another one, or by taking turns."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.postgres.database import Postgres

# Sets these locks apart from the other advisory locks of this project, which are single numbers.
_NAMESPACE = 7_237
_TURNS = 7_238


@contextmanager
def single_flight(postgres: Postgres, name: str) -> Iterator[bool]:
    """Whether the block is the only one of this `name` in the deployment until it ends.

    Never waits: whoever gets False leaves the work to who has it. The lock is an advisory one and
    goes with its connection, so a killed process holds up nobody.
    """
    with postgres.transaction() as session:
        taken = session.scalar(
            text("SELECT pg_try_advisory_xact_lock(:namespace, hashtext(:name))"),
            {"namespace": _NAMESPACE, "name": name},
        )
        yield bool(taken)


def in_turn(session: Session, name: str) -> None:
    """Waits until no other transaction has the turn of this `name`; kept until this one ends.

    For writers that lock many rows, and not all in one order: taken before any row, they never wait
    for each other crosswise.
    """
    session.execute(
        text("SELECT pg_advisory_xact_lock(:namespace, hashtext(:name))"),
        {"namespace": _TURNS, "name": name},
    )
