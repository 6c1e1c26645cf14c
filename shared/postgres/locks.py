"""Work that one process at a time is enough for."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import text

from shared.postgres.database import Postgres

# Sets these locks apart from the other advisory locks of this project, which are single numbers.
_NAMESPACE = 7_237


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
