"""The ranges of time that a page searches."""

from collections.abc import Callable
from itertools import islice

from shared.foundation.clickhouse.slices import FUTURE_US, HOUR_US, Slices, TimeRange
from shared.foundation.core.clock import now_us


def slices(newest: Callable[[], int]) -> Slices:
    span = TimeRange(0, now_us() + FUTURE_US)
    return Slices(span, wanted=1, first_us=HOUR_US, newest=newest)


def test_after_an_empty_slice_the_newest_row_is_next() -> None:
    newest = now_us() - 1000 * HOUR_US
    first, second, third = islice(slices(lambda: newest), 3)
    assert first.start > newest
    assert second == TimeRange(newest + 1 - HOUR_US, newest + 1)
    assert third.stop == second.start


def test_a_row_after_the_slice_skips_nothing() -> None:
    first, second = islice(slices(now_us), 2)
    assert second.stop == first.start


def test_nothing_is_searched_where_nothing_is() -> None:
    assert len(list(slices(lambda: 0))) == 2


def test_a_slice_with_rows_is_followed_by_the_next() -> None:
    def unexpected() -> int:
        raise AssertionError

    full = Slices(TimeRange(0, now_us()), wanted=5, first_us=HOUR_US, newest=unexpected)
    pieces = iter(full)
    first = next(pieces)
    full.found(2)
    assert next(pieces).stop == first.start
