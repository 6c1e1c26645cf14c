"""Ranges of time that a page searches one after the other until it is full.

A bound on time keeps a page fast on a large table. The right width depends on the density of the
rows, so each slice's width is estimated from the rows that the earlier ones found.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from shared.foundation.clickhouse.client import ClickHouse
from shared.foundation.clickhouse.settings import SMALL_PAGE
from shared.foundation.clickhouse.where import Where, us
from shared.foundation.core.clock import now_us

HOUR_US = 3600 * 1_000_000
# Events may lie up to 24 hours ahead of their arrival.
FUTURE_US = 25 * HOUR_US

_WIDEST_STEP = 16.0
# A bit more than the rest of the page should need, so that it seldom takes another slice.
_MARGIN = 1.5
# Beyond this width a search in pieces is of no use.
_WIDE_US = 400 * 24 * HOUR_US
# More hours than these take longer to look up than they spare.
_MOST_HOURS = 2000


class TimeRange(NamedTuple):
    """A half-open range of time, [start, stop) in microseconds."""

    start: int
    stop: int


def within_hours(where: Where, column: str, ranges: Sequence[TimeRange]) -> None:
    """Requires an hour that one of `ranges` touches, unless these are too many.

    Of some sessions in a month the primary key finds few granules by it. The index on the session
    alone finds many others: of a hundredth of the granules for each session it is wrong.
    """
    hours = sum(one.stop // HOUR_US - one.start // HOUR_US + 1 for one in ranges)
    if hours <= _MOST_HOURS:
        touched = {
            hour for one in ranges for hour in range(one.start // HOUR_US, one.stop // HOUR_US + 1)
        }
        where.add(
            f"intDiv({us(column)}, {HOUR_US}) IN {{hours:Array(Int64)}}", hours=sorted(touched)
        )


def newest_event(clickhouse: ClickHouse, org_id: str) -> int:
    """Returns the time of an organization's newest event in microseconds, 0 without any."""
    rows = clickhouse.rows(
        f"SELECT {us('last_event_at')} FROM agent_sessions WHERE org_id = {{org_id:String}}"
        " ORDER BY last_event_at DESC LIMIT 1",
        {"org_id": org_id},
        settings=SMALL_PAGE,
    )
    return int(rows[0][0]) if rows else 0


class Slices:
    """The slices of one page; the caller iterates and reports the rows of each to `found`.

    They are adjacent, start at the end of `span` where the list begins, and cover all of it. The
    first one is `first_us` wide and includes all times after now. If it is empty, those of a list
    with the newest first go on at the time that `newest` returns: nothing lies after it.
    """

    def __init__(
        self,
        span: TimeRange,
        *,
        wanted: int,
        first_us: int,
        newest: Callable[[], int] | None = None,
        ascending: bool = False,
    ) -> None:
        self._left = span
        self._wanted = wanted
        self._width = first_us
        self._newest = None if ascending else newest
        self._ascending = ascending
        self._found = 0
        self._now = now_us()

    def found(self, count: int) -> None:
        """Records how many rows of the page the last slice gave."""
        self._found += count

    def __iter__(self) -> Iterator[TimeRange]:
        while self._left.start < self._left.stop and self._found < self._wanted:
            before = self._found
            yield self._cut()
            if self._found or not self._skipped():
                self._widen(self._found - before)

    def _skipped(self) -> bool:
        """Skips the time up to the newest row, once; returns whether there was any."""
        if self._newest is None:
            return False
        start, stop = self._left
        newest, self._newest = self._newest(), None
        self._left = TimeRange(start, min(stop, newest + 1))
        return newest + 1 < stop

    def _cut(self) -> TimeRange:
        start, stop = self._left
        if self._ascending:
            edge = min(stop, start + self._width)
            self._left = TimeRange(edge, stop)
            return TimeRange(start, edge)
        edge = max(start, min(stop, self._now) - self._width)
        self._left = TimeRange(start, edge)
        return TimeRange(edge, stop)

    def _widen(self, gave: int) -> None:
        missing = self._wanted - self._found
        step = _MARGIN * missing / gave if gave else _WIDEST_STEP
        self._width = int(self._width * min(max(step, 1.0), _WIDEST_STEP))
        if self._width > _WIDE_US:
            self._width = max(self._width, self._left.stop - self._left.start)
