"""Samples, computed in Python and in ClickHouse."""

import random
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise

import pytest

from shared.evaluation.evaluators.sampling import Percent, is_sampled, sampled_sql
from shared.foundation.clickhouse import ClickHouse

PERCENTS: list[Percent] = [0, 0.01, 0.29, 1, 6.25, 12.5, 33.33, Decimal("66.67"), 99.99, 100]
ODD = ["", ":", "seed:", "a'b\\", "{x:String}", "ÄÖ 😀\u200b", "\n\t", "%", "x" * 256]


def ids() -> list[str]:
    random_ = random.Random(5)
    return [*ODD, *(f"{random_.choice(ODD)}{number}" for number in range(5000))]


@pytest.fixture(scope="module")
def clickhouse(clickhouse_url: str) -> Iterator[ClickHouse]:
    client = ClickHouse(clickhouse_url)
    yield client
    client.close()


@pytest.mark.parametrize("seed", ["tone", "a'b\\:ü", "{x:String}"])
def test_clickhouse_has_the_same_sample(clickhouse: ClickHouse, seed: str) -> None:
    given = ids()
    for percent in PERCENTS:
        condition, params = sampled_sql(seed, percent)
        rows = clickhouse.rows(
            "SELECT session_id FROM (SELECT arrayJoin({ids:Array(String)}) AS session_id)"
            f" WHERE {condition}",
            {**params, "ids": given},
        )
        assert [row[0] for row in rows] == [one for one in given if is_sampled(seed, one, percent)]


def test_a_larger_sample_holds_the_smaller() -> None:
    samples = [{one for one in ids() if is_sampled("tone", one, percent)} for percent in PERCENTS]
    assert all(small <= large for small, large in pairwise(samples))
    assert (len(samples[0]), samples[-1]) == (0, set(ids()))
    # A third, within four standard deviations.
    assert abs(len(samples[6]) - len(set(ids())) / 3) < 140


def test_the_published_formula() -> None:
    """SHA-256("tone:ses_1") begins with 2e052db7, which is 17.9767 % of 2^32."""
    assert not is_sampled("tone", "ses_1", 17.97)
    assert is_sampled("tone", "ses_1", 17.98)


def test_one_seed_has_the_same_sessions_and_another_has_others() -> None:
    first, second = (
        {one for one in ids() if is_sampled(seed, one, 50)} for seed in ("tone", "policy")
    )
    assert 0.2 < len(first & second) / len(ids()) < 0.3
