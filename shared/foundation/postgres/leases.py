"""Leases on rows: a worker holds the rows that carry its token, until the lease expires.

PostgreSQL's clock decides, so the clocks of workers need not agree. A worker that is killed renews
nothing, and its rows are free when the lease expires. Writes require the token, so a worker that
lost its rows to another one changes nothing. Each queue has its own query to select the next row.
"""

import math
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Executable, Row, and_, func, or_, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.foundation.core.errors import Unavailable
from shared.foundation.core.ids import new_id
from shared.foundation.postgres.base import timestamp_type
from shared.foundation.postgres.database import Postgres

# The number of renewals before a lease would expire.
RENEWALS = 4

# The condition for queries: no worker holds the row.
FREE = "(lease_expires_at IS NULL OR lease_expires_at <= statement_timestamp())"


class LeaseColumns:
    """The columns of a table whose rows workers hold under leases."""

    lease_token: Mapped[uuid.UUID | None]
    lease_expires_at: Mapped[datetime | None] = mapped_column(timestamp_type)


@dataclass(frozen=True)
class RowLease:
    """A worker's hold on those of `rows` that carry `token`."""

    table: type[LeaseColumns]
    rows: ColumnElement[bool]
    token: uuid.UUID

    @property
    def held(self) -> ColumnElement[bool]:
        """The condition for rows that no other worker took, even if the lease expired."""
        return and_(self.rows, self.table.lease_token == self.token)

    def renew(
        self, session: Session, secs: float, *, only_live: bool = False, **values: Any
    ) -> bool:
        """Extends the lease to `secs` from now and sets `values`.

        Returns False if the rows are lost.

        An expired lease is renewed too if nobody took the rows, unless `only_live`.
        """
        live = self.table.lease_expires_at > func.statement_timestamp()
        rows = and_(self.held, live) if only_live else self.held
        query = update(self.table).where(rows).values(lease_expires_at=in_secs(secs), **values)
        return bool(_rows(session, query.returning(self.table.lease_token)))

    def end(self, session: Session, **values: Any) -> bool:
        """Frees the rows and sets `values`.

        Returns False if another worker has the rows, or they are gone.
        """
        freed = {"lease_token": None, "lease_expires_at": None, **values}
        query = update(self.table).where(self.held).values(freed)
        return bool(_rows(session, query.returning(self.table.lease_token)))


def in_secs(secs: float) -> ColumnElement[datetime]:
    """Returns the time in `secs` from now."""
    return func.statement_timestamp() + func.make_interval(0, 0, 0, 0, 0, 0, secs)


def take(
    session: Session,
    table: type[LeaseColumns],
    rows: ColumnElement[bool],
    secs: float,
    returning: Sequence[Any],
    **values: Any,
) -> tuple[RowLease, Sequence[Row[*tuple[Any, ...]]]]:
    """Takes those of `rows` that are free for `secs` and sets `values`; returns their columns."""
    expires_at = table.lease_expires_at
    free = or_(expires_at.is_(None), expires_at <= func.statement_timestamp())
    lease = RowLease(table, rows, new_id())
    query = (
        update(table)
        .where(rows, free)
        .values(lease_token=lease.token, lease_expires_at=in_secs(secs), **values)
        .returning(*returning)
    )
    return lease, _rows(session, query)


def _rows(session: Session, query: Executable) -> Sequence[Row[*tuple[Any, ...]]]:
    # Objects of the session that are returned get the new values, and no others do.
    options = {"synchronize_session": False, "populate_existing": True}
    return session.execute(query, execution_options=options).all()


@contextmanager
def kept(
    postgres: Postgres, lease: RowLease, secs: float, *, longest_secs: float = math.inf
) -> Iterator[threading.Event]:
    """Renews a lease of `secs` while the block runs, however long one statement takes.

    The event is set when the lease was lost, or when the block took longer than `longest_secs`:
    such work is stuck, and another worker may try after the lease.
    """
    done, lost = threading.Event(), threading.Event()
    deadline = time.monotonic() + longest_secs

    def renewed() -> bool:
        try:
            with postgres.transaction() as session:
                return lease.renew(session, secs)
        except Unavailable:
            # The lease outlasts a short outage; the next renewal shows whether it did.
            return True

    def beat() -> None:
        while not done.wait(secs / RENEWALS):
            if time.monotonic() > deadline or not renewed():
                lost.set()
                return

    thread = threading.Thread(target=beat, name="lease-heartbeat", daemon=True)
    thread.start()
    try:
        yield lost
    finally:
        done.set()
        thread.join()
