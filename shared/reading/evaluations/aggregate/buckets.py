"""Buckets of time: their width, their start and their number."""

from dataclasses import dataclass

UNITS: dict[str, int] = {
    "minute": 60,
    "5m": 300,
    "15m": 900,
    "hour": 3600,
    "6h": 6 * 3600,
    "day": 24 * 3600,
    "week": 7 * 24 * 3600,
}
AUTO = "auto"

MAX_POINTS = 1500
# As many as a chart can show: an hour by the minute, a week by the hour, half a year by the day.
MAX_AUTO_POINTS = 200

_SECOND = 1_000_000
# Monday 1969-12-29, 00:00 UTC: midnights and full hours of UTC are whole multiples of all units
# away.
_ORIGIN = -3 * UNITS["day"] * _SECOND


@dataclass(frozen=True)
class Buckets:
    """`count` buckets of `secs` each, the first beginning at `start` (microseconds, UTC).

    `unit` is one of `UNITS`; `secs` is its length, for `week` possibly a multiple of it.
    """

    unit: str
    secs: int
    start: int
    count: int

    @property
    def width(self) -> int:
        """The length of a bucket in microseconds."""
        return self.secs * _SECOND

    def starts(self) -> range:
        """Returns the start of each bucket, in microseconds."""
        return range(self.start, self.start + self.count * self.width, self.width)


def choose(unit: str, first: int, stop: int) -> Buckets:
    """Returns the buckets that cover [first, stop), in microseconds.

    They are of `unit`, or of the next coarser one that gives at most `MAX_POINTS`; if weeks are too
    many, of the smallest sufficient number of weeks. `AUTO` is the finest unit with at most
    `MAX_AUTO_POINTS`. Buckets begin at whole multiples since a Monday, in UTC. An empty range has
    none.
    """
    names = list(UNITS)
    wanted = names if unit == AUTO else names[names.index(unit) :]
    if first >= stop:
        return Buckets(wanted[0], UNITS[wanted[0]], first, 0)
    most = MAX_AUTO_POINTS if unit == AUTO else MAX_POINTS
    for name in wanted:
        found = _cover(name, UNITS[name], first, stop)
        if found.count <= most:
            return found
    week, weeks = UNITS["week"], 1
    while found.count > most:
        weeks += 1
        found = _cover("week", weeks * week, first, stop)
    return found


def _cover(unit: str, secs: int, first: int, stop: int) -> Buckets:
    width = secs * _SECOND
    lowest, highest = (first - _ORIGIN) // width, (stop - 1 - _ORIGIN) // width
    return Buckets(unit, secs, _ORIGIN + lowest * width, highest - lowest + 1)
