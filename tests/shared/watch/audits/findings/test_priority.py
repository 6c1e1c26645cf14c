"""The priority of a finding, by the formula of docs/use/audits.md."""

from datetime import timedelta
from typing import Any

import pytest

from shared.watch.audits.findings.priority import coverage, priority, recency
from tests.support.findings import WINDOW, candidate

_DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        # 0.30 x 10/100 + 0.25 x 2/3 + 0.25 x 2/3 + 0.20 x 1
        ({}, 0.5633),
        # 0.30 x 1 + 0.25 + 0.25 + 0.20
        ({"affected_sessions": 100, "severity": "critical", "magnitude": "big"}, 1.0),
        # 0.25 x 1/3 + 0.25 x 1/3
        (
            {
                "affected_sessions": 0,
                "severity": "info",
                "magnitude": "small",
                "last_seen_at": WINDOW.start,
            },
            0.1667,
        ),
        # 0.30 x 1/4 + 0.25 x 1 + 0.25 x 1/3 + 0.20 x 4/7
        (
            {
                "affected_sessions": 25,
                "severity": "critical",
                "magnitude": "small",
                "last_seen_at": WINDOW.stop - 3 * _DAY,
            },
            0.5226,
        ),
    ],
)
def test_priority_is_the_weighted_sum(fields: dict[str, Any], expected: float) -> None:
    assert priority(candidate(**fields), WINDOW, 100) == expected


def test_coverage_is_a_share_even_of_nothing() -> None:
    assert [coverage(*one) for one in ((1, 4), (9, 4), (0, 4), (0, 0), (3, 0))] == [
        0.25,
        1.0,
        0.0,
        0.0,
        0.0,
    ]


def test_recency_falls_from_the_end_of_the_window_to_its_start() -> None:
    seen = (WINDOW.stop + _DAY, WINDOW.stop, WINDOW.stop - 3.5 * _DAY, WINDOW.start)
    assert [recency(moment, WINDOW) for moment in (*seen, WINDOW.start - _DAY)] == [
        1.0,
        1.0,
        0.5,
        0.0,
        0.0,
    ]
