"""Query parameters that lists share."""

from datetime import UTC, datetime

import pytest
from marshmallow import Schema, ValidationError

from web.params import Limit, ListField, Timestamp, split_values


class Query(Schema):
    """One field of each kind."""

    values = ListField()
    at = Timestamp(load_default=None)
    limit = Limit(default=50, cap=200)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a", ["a"]),
        ("a,b", ["a", "b"]),
        (r"a\,b", ["a,b"]),
        (r"a\,b,c\,", ["a,b", "c,"]),
        (r"a\b,c", [r"a\b", "c"]),
        (" a ,b", [" a ", "b"]),
        ("a,,b,", ["a", "b"]),
        ("", []),
    ],
)
def test_values_are_separated_by_commas(text: str, values: list[str]) -> None:
    assert split_values(text) == values
    assert Query().load({"values": text})["values"] == values


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-01T08:00:00Z", datetime(2026, 11, 1, 8, tzinfo=UTC)),
        ("2026-11-01t08:00:00.5z", datetime(2026, 11, 1, 8, 0, 0, 500_000, tzinfo=UTC)),
        ("2026-11-01T08:00:00+02:00", datetime(2026, 11, 1, 6, tzinfo=UTC)),
        ("2026-11-01 08:00-0130", datetime(2026, 11, 1, 9, 30, tzinfo=UTC)),
        ("2026-11-01T08:00:00.1234567Z", datetime(2026, 11, 1, 8, 0, 0, 123_456, tzinfo=UTC)),
    ],
)
def test_timestamps_are_moments_in_utc(text: str, moment: datetime) -> None:
    assert Query().load({"at": text})["at"] == moment


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-01T08:00:00",
        "2026-11-01",
        "1793520000",
        "2026-13-01T08:00:00Z",
        "2026-11-01T24:00:01Z",
        "2026-11-01T08:00:00+99:00",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "yesterday",
        "",
    ],
)
def test_invalid_timestamps(text: str) -> None:
    with pytest.raises(ValidationError, match="RFC 3339"):
        Query().load({"at": text})


@pytest.mark.parametrize(
    ("text", "limit"), [("1", 1), ("200", 200), ("201", 200), ("99999999999999999999", 200)]
)
def test_limits_are_clamped_to_the_cap(text: str, limit: int) -> None:
    assert Query().load({"limit": text})["limit"] == limit
    assert Query().load({})["limit"] == 50


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "ten", "", "9" * 5000])
def test_invalid_limits(text: str) -> None:
    with pytest.raises(ValidationError):
        Query().load({"limit": text})
