"""Long work in steps: a worker takes a row under a lease, brings it forward and gives it back.

A worker that is killed leaves the rest to the one that takes the row when the lease expires.
"""

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from sqlalchemy.orm import Session

from shared.foundation.core.tracing import spans
from shared.foundation.postgres import Postgres, leases
from shared.foundation.postgres.leases import RowLease
from shared.foundation.queue.tasks import Queue, Task
from shared.foundation.queue.work_loop import claimed

_Row = TypeVar("_Row")


class Later(Exception):
    """The work goes on in `secs`, which are 0 if this worker has to stop."""

    def __init__(self, secs: float) -> None:
        super().__init__()
        self.secs = secs


class Lost(Exception):
    """Another worker has the row, or it is gone with its organization."""


@dataclass
class HeldRow(Generic[_Row]):
    """A row as it was when this worker took it. `work` sets the events."""

    lease: RowLease
    row: _Row
    lost: threading.Event = field(default_factory=threading.Event, kw_only=True)
    stopping: threading.Event = field(default_factory=threading.Event, kw_only=True)

    def require_leave(self) -> None:
        """Raises `Lost` or `Later` if this worker may not go on."""
        if self.lost.is_set():
            raise Lost
        if self.stopping.is_set():
            raise Later(0.0)


_Held = TypeVar("_Held", bound=HeldRow[Any])


class _Stores(Protocol):
    @property
    def postgres(self) -> Postgres: ...

    @property
    def queue(self) -> Queue: ...


def work(
    stores: _Stores,
    task: Task,
    claim: Callable[[Session], _Held | None],
    step: Callable[[_Held], object],
    stopping: threading.Event,
    lease_secs: float,
    longest_secs: float = math.inf,
) -> int:
    """Takes steps until `claim` returns None or the turn is over; returns their number.

    The rows have an `org_id`. A lease is kept during a step, for at most `longest_secs`.
    """

    def take() -> _Held | None:
        with stores.postgres.transaction() as session:
            return claim(session)

    steps = 0
    for held in claimed(stores.queue, task, take, stopping):
        org = {spans.ORGANIZATION: str(held.row.org_id)}
        kept = leases.kept(stores.postgres, held.lease, lease_secs, longest_secs=longest_secs)
        with spans.work(task.actor, attributes=org), kept as held.lost:
            held.stopping = stopping
            step(held)
        steps += 1
    return steps
