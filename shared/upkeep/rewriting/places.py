"""Places in the order of an organization's stored events: work that was killed goes on from one."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from shared.foundation.clickhouse.where import Where, moment
from shared.foundation.core.clock import from_us, to_us

_KEY = "(ts, session_id, id)"


class Place(NamedTuple):
    """The key of an event, or of none; `ts` in microseconds since the epoch.

    What comes after a place with no session begins at its moment.
    """

    ts: int
    session_id: str = ""
    id: int = 0

    @classmethod
    def of(cls, stored: Sequence[Any]) -> "Place":
        """Returns a place that was stored as a list."""
        return cls(*stored)

    def add_after(self, where: Where, name: str = "after") -> Where:
        """Requires an event after this place."""
        where.add(f"ts >= {moment(f'{name}_ts')}")
        where.add(f"{_KEY} > {self._bound(where, name)}")
        return where

    def add_until(self, where: Where, name: str = "until") -> Where:
        """Requires an event at this place or before it."""
        where.add(f"ts <= {moment(f'{name}_ts')}")
        where.add(f"{_KEY} <= {self._bound(where, name)}")
        return where

    def _bound(self, where: Where, name: str) -> str:
        values = {f"{name}_ts": self.ts, f"{name}_session": self.session_id, f"{name}_id": self.id}
        where.params.update(values)
        return f"({moment(f'{name}_ts')}, {{{name}_session:String}}, {{{name}_id:UInt64}})"


def next_month(ts: int) -> int:
    """Returns the moment at which the month after that of `ts` begins. A part has one month."""
    now = from_us(ts).astimezone(UTC)
    year, month = (now.year + 1, 1) if now.month == 12 else (now.year, now.month + 1)
    return to_us(datetime(year, month, 1, tzinfo=UTC))


def months_between(start: int, stop: int) -> int:
    """Returns the number of months that [start, stop) lies in."""
    if start >= stop:
        return 0
    first, last = from_us(start), from_us(stop - 1)
    return (last.year - first.year) * 12 + last.month - first.month + 1
