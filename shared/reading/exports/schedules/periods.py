"""The periods of files: hours or days, of UTC."""

from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from shared.reading.exports.columns import What
from shared.reading.exports.formats import FILE_TYPES, Format

Every = Literal["hourly", "daily"]

LENGTHS: dict[Every, timedelta] = {"hourly": timedelta(hours=1), "daily": timedelta(days=1)}


class Period(NamedTuple):
    """An hour or a day."""

    every: Every
    start: datetime

    @property
    def end(self) -> datetime:
        """Returns the first moment after it."""
        return self.start + LENGTHS[self.every]

    def name(self, what: What, format_: Format) -> str:
        """Returns the file's name below the organization's folder.

        For example `events/hourly/date=2026-11-22/2026-11-22T13.parquet`. Query engines take
        `date` for a column, and an hour has a file in each of two folders only if the schedule was
        both.
        """
        day = self.start.strftime("%Y-%m-%d")
        own = day if self.every == "daily" else self.start.strftime("%Y-%m-%dT%H")
        return f"{what}/{self.every}/date={day}/{own}.{FILE_TYPES[format_].suffix}"


def period_at(every: Every, moment: datetime) -> Period:
    """Returns the period that a moment (UTC) lies in."""
    start = moment.replace(minute=0, second=0, microsecond=0)
    return Period(every, start.replace(hour=0) if every == "daily" else start)
