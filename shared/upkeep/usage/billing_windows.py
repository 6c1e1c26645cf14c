"""Billing windows: consecutive periods of 30 days from an organization's anchor."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.foundation.core.errors import Invalid

LENGTH = timedelta(days=30)
LENGTH_MS = LENGTH // timedelta(milliseconds=1)


@dataclass(frozen=True)
class BillingWindow:
    """From `start`, inclusive, to `end`, exclusive."""

    start: datetime
    end: datetime


def window_at(anchor: datetime, moment: datetime) -> BillingWindow:
    """Returns the window that contains a moment; the first one for a moment before the anchor."""
    start = anchor + max(0, (moment - anchor) // LENGTH) * LENGTH
    return BillingWindow(start, start + LENGTH)


def chosen_window(anchor: datetime, present: datetime, wanted: datetime | None) -> BillingWindow:
    """Returns the window that contains `wanted`, the current one for None.

    Raises `Invalid` naming `window_start` for a moment before the first window or after the current
    one.
    """
    current = window_at(anchor, present)
    if wanted is None:
        return current
    if not anchor <= wanted < current.end:
        raise Invalid.field("window_start", "must lie between the first and the current window")
    return window_at(anchor, wanted)


def newest_windows(anchor: datetime, present: datetime, count: int) -> list[BillingWindow]:
    """Lists at most `count` windows, newest first: the current one and those before it."""
    current = window_at(anchor, present)
    before = min(count - 1, (current.start - anchor) // LENGTH)
    starts = [current.start - number * LENGTH for number in range(before + 1)]
    return [BillingWindow(start, start + LENGTH) for start in starts]
