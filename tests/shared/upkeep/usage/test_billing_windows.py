"""Billing windows: the window of a moment, and the list of windows."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.foundation.core.errors import Invalid
from shared.upkeep.usage.billing_windows import (
    LENGTH,
    BillingWindow,
    chosen_window,
    newest_windows,
    window_at,
)

ANCHOR = datetime(2026, 1, 31, 12, 30, 0, 123_456, tzinfo=UTC)
INSTANT = timedelta(microseconds=1)


def number(window: BillingWindow) -> int:
    """Returns the number of a window, from 0 on."""
    assert window.end - window.start == LENGTH
    place, rest = divmod(window.start - ANCHOR, LENGTH)
    assert rest == timedelta(0)
    return place


@pytest.mark.parametrize(
    ("since", "place"),
    [
        (timedelta(0), 0),
        (LENGTH - INSTANT, 0),
        (LENGTH, 1),
        (LENGTH * 12 - INSTANT, 11),
        (LENGTH * 400 + timedelta(days=29), 400),
        (-INSTANT, 0),
    ],
)
def test_windows_follow_each_other_without_a_gap(since: timedelta, place: int) -> None:
    window = window_at(ANCHOR, ANCHOR + since)
    assert number(window) == place


def test_a_window_is_chosen_by_any_moment_of_it() -> None:
    present = ANCHOR + LENGTH * 2 + timedelta(days=3)
    assert number(chosen_window(ANCHOR, present, None)) == 2
    for since, place in (
        (timedelta(0), 0),
        (LENGTH * 2 - INSTANT, 1),
        (LENGTH * 3 - INSTANT, 2),
    ):
        assert number(chosen_window(ANCHOR, present, ANCHOR + since)) == place
    for outside in (ANCHOR - INSTANT, ANCHOR + LENGTH * 3):
        with pytest.raises(Invalid) as refusal:
            chosen_window(ANCHOR, present, outside)
        assert refusal.value.fields.keys() == {"window_start"}


def test_the_newest_windows_end_at_the_anchor_or_at_the_bound() -> None:
    present = ANCHOR + LENGTH * 4
    assert [number(one) for one in newest_windows(ANCHOR, present, 36)] == [4, 3, 2, 1, 0]
    assert [number(one) for one in newest_windows(ANCHOR, present, 3)] == [4, 3, 2]
    assert [number(one) for one in newest_windows(ANCHOR, ANCHOR, 36)] == [0]
