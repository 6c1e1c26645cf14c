"""The values with which a tile runs its query."""

from datetime import UTC, datetime
from typing import Any

import pytest

from shared.reading.dashboards.parameters import values_of

START, END = datetime(2026, 11, 2, tzinfo=UTC), datetime(2026, 11, 3, tzinfo=UTC)


def values(saved: list[dict[str, Any]], bindings: dict[str, Any]) -> list[object]:
    return values_of(saved, bindings, START, END)


def test_the_tile_comes_before_the_query_and_the_range_before_both() -> None:
    saved = [{"name": "from", "value": "x"}, {"name": "agent", "value": "billing"}, {"name": "to"}]
    start, end = "2026-11-02T00:00:00.000000Z", "2026-11-03T00:00:00.000000Z"
    assert values(saved, {}) == [start, "billing", end]
    assert values(saved, {"2": "triage", "1": "never"}) == [start, "triage", end]
    assert values(saved, {"agent": "triage"}) == [start, "triage", end]
    assert values([], {"2": "b"}) == ["", "b"]


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("production", "production"),
        (" 12.5 ", 12.5),
        ("true", True),
        ("null", None),
        ('"12"', "12"),
        ('["a", "b"]', ["a", "b"]),
        ("[oops", "[oops"),
        ("2026-11-02T08:00:00Z", "2026-11-02T08:00:00Z"),
        ("18446744073709551615", "18446744073709551615"),
        (7, 7),
        (["a"], ["a"]),
        (None, ""),
    ],
)
def test_a_value_is_json_where_it_reads_so(typed: object, value: object) -> None:
    assert values([], {"1": typed}) == [value]


@pytest.mark.parametrize("key", ["$1", "0", "-1", "101", "1e2", "²", "nobody"])
def test_a_binding_of_another_client_counts_as_absent(key: str) -> None:
    assert values([{"name": "agent", "value": "a"}], {key: "x"}) == ["a"]
