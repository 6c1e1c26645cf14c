"""Moments as the API writes them."""

from datetime import datetime

import pytest

from shared.foundation.core.clock import format_ts, format_us, to_us


@pytest.mark.parametrize(
    ("sent", "written"),
    [
        ("2026-11-01T08:00:33.587+00:00", "2026-11-01T08:00:33.587000Z"),
        ("2026-11-01T00:30:00+02:00", "2026-10-31T22:30:00.000000Z"),
        ("1969-12-31T23:59:59.999999+00:00", "1969-12-31T23:59:59.999999Z"),
        ("0001-01-01T00:00:00+00:00", "0001-01-01T00:00:00.000000Z"),
        ("9999-12-31T23:59:59.999999+00:00", "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_a_moment_is_written_in_utc_with_a_year_of_four_digits(sent: str, written: str) -> None:
    """A range may begin in the year 1, and the answer repeats its bounds (`bounds.from`)."""
    moment = datetime.fromisoformat(sent)
    assert format_ts(moment) == written
    assert format_us(to_us(moment)) == written
