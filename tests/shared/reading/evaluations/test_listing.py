"""Stored results read back: every filter and every page, with repeated rows."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.clock import now_us, to_us
from shared.foundation.core.errors import Invalid
from shared.reading.evaluations import store
from shared.reading.evaluations.facets import environments, score_keys
from shared.reading.evaluations.filters import EvaluationFilters
from shared.reading.evaluations.listing import page
from shared.reading.evaluations.records import Evaluation
from shared.reading.evaluations.score_filters import ScoreFilter
from tests.support.evaluations import evaluation

DAY = datetime(2026, 11, 2, tzinfo=UTC)
EARLY = datetime(1970, 1, 1, 0, 0, 0, 50, tzinfo=UTC)


def at(hour: int) -> datetime:
    return DAY.replace(hour=hour)


def many(org_id: str, count: int) -> list[Evaluation]:
    """Results of 40 sessions in two months, several of them at one moment."""
    rng = random.Random(11)
    return [
        evaluation(
            org_id,
            f"session-{rng.randrange(40)}",
            to_us(DAY) - rng.randrange(30) * 86_400_000_000,
            agent_id=rng.choice(["a", "b,c", "d/e"]),
            environment=rng.choice(["staging", "production"]),
            status=rng.choice(["done", "error", "timeout"]),
            scores=rng.choice([None, {"x": rng.uniform(-1, 1)}, {"x": 0.0, "it's, y": 1e-300}]),
            reasoning=rng.choice([None, {"x": "because\n'so'"}]),
            summary=rng.choice([None, "", "très bien"]),
            attempt_count=rng.randrange(1, 6),
            duration_ms=rng.choice([None, 0, 120]),
        )
        for _ in range(count)
    ]


def newest_first(results: list[Evaluation]) -> list[Evaluation]:
    return sorted(results, key=lambda row: (row.completed_at, row.evaluation_id), reverse=True)


def read_all(
    clickhouse: ClickHouse, org_id: str, limit: int, **fields: Any
) -> Iterator[Evaluation]:
    cursor: str | None = None
    while True:
        shown = page(clickhouse, org_id, EvaluationFilters(**fields), limit=limit, cursor=cursor)
        yield from shown.rows
        cursor = shown.next_cursor
        if cursor is None:
            return


@pytest.fixture
def results(clickhouse: ClickHouse, org_id: str) -> list[Evaluation]:
    """150 results, stored twice, next to those of another organization."""
    rows = many(org_id, 150)
    store.insert(clickhouse, rows)
    store.insert(clickhouse, rows[::-1])
    store.insert(clickhouse, [replace(row, org_id=f"{org_id}-other") for row in rows[:50]])
    store.insert(clickhouse, [])
    return rows


def test_pages_hold_every_result_once(
    clickhouse: ClickHouse, org_id: str, results: list[Evaluation]
) -> None:
    assert list(read_all(clickhouse, org_id, 7)) == newest_first(results)
    assert list(read_all(clickhouse, org_id, 150)) == newest_first(results)


def test_filters_are_joined_by_and(
    clickhouse: ClickHouse, org_id: str, results: list[Evaluation]
) -> None:
    found = read_all(
        clickhouse,
        org_id,
        5,
        session_id=tuple(f"session-{n}" for n in range(30)),
        agent_id=("b,c", "d/e"),
        environment=("staging",),
        status=("done", "timeout"),
        ts_from=DAY.replace(month=10, day=10),
        ts_to=DAY,
        score_filters=(ScoreFilter("x", -0.5, 0.5),),
    )
    wanted = [
        row
        for row in newest_first(results)
        if row.session_id in {f"session-{n}" for n in range(30)}
        and row.agent_id != "a"
        and row.environment == "staging"
        and row.status != "error"
        and to_us(DAY.replace(month=10, day=10)) <= row.completed_at < to_us(DAY)
        and row.scores is not None
        and -0.5 <= row.scores["x"] <= 0.5
    ]
    assert wanted
    assert list(found) == wanted


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [
        (0.5, None, {"high", "middle"}),
        (None, 0.5, {"middle", "low"}),
        (0.5, 0.5, {"middle"}),
        (-3.5, 0.4, {"low"}),
        (None, None, {"high", "middle", "low"}),
    ],
)
def test_score_bounds_are_inclusive_and_need_the_score(
    clickhouse: ClickHouse, org_id: str, low: float | None, high: float | None, found: set[str]
) -> None:
    scores = {"none": None, "high": {"it's": 0.75}, "middle": {"it's": 0.5}, "low": {"it's": -3.0}}
    rows = [evaluation(org_id, name, 1, scores=values) for name, values in scores.items()]
    store.insert(clickhouse, rows)
    wanted = (ScoreFilter("it's", low, high),)
    assert {
        row.session_id for row in read_all(clickhouse, org_id, 9, score_filters=wanted)
    } == found


def test_latest_per_session_leaves_one_result_a_session(
    clickhouse: ClickHouse, org_id: str, results: list[Evaluation]
) -> None:
    latest: dict[str, Evaluation] = {}
    for row in newest_first(results):
        latest.setdefault(row.session_id, row)
    found = list(read_all(clickhouse, org_id, 9, latest_per_session=True))
    assert found == list(latest.values())
    failed = list(read_all(clickhouse, org_id, 9, latest_per_session=True, status=("error",)))
    assert failed == [row for row in latest.values() if row.status == "error"]


def test_the_newest_of_a_session_is_found_behind_many_results_of_another(
    clickhouse: ClickHouse, org_id: str
) -> None:
    often = [evaluation(org_id, "often", 100 + n) for n in range(60)]
    rare = [evaluation(org_id, f"rare-{n}", 200 - n if n < 3 else n) for n in range(6)]
    store.insert(clickhouse, [*often, *rare])
    store.insert(clickhouse, often[10:30])
    wanted = [*rare[:3], often[-1], *rare[:2:-1]]
    for limit in (1, 2, 3, 7):
        assert list(read_all(clickhouse, org_id, limit, latest_per_session=True)) == wanted
    assert list(read_all(clickhouse, org_id, 1, latest_per_session=True, ts_to=EARLY)) == wanted[4:]


@pytest.mark.parametrize("latest", [False, True])
def test_results_that_arrive_while_one_pages_move_nothing(
    clickhouse: ClickHouse, org_id: str, latest: bool
) -> None:
    first = [evaluation(org_id, f"s-{n}", n) for n in range(1, 7)]
    store.insert(clickhouse, first)
    wanted = EvaluationFilters(latest_per_session=latest)
    top = page(clickhouse, org_id, wanted, limit=3, cursor=None)
    later = now_us() + 1_000_000
    store.insert(clickhouse, [evaluation(org_id, f"s-{n}", later) for n in range(1, 9)])
    rest = page(clickhouse, org_id, wanted, limit=3, cursor=top.next_cursor)
    assert top.rows + rest.rows == first[::-1]
    assert rest.next_cursor is None


def test_facets_are_sorted_and_of_one_organization(clickhouse: ClickHouse, org_id: str) -> None:
    rows = [
        evaluation(org_id, "s", 1, environment="b", scores={"z": 1.0, "a, b": 2.0}),
        evaluation(org_id, "t", 2, environment="a", status="error", error="no"),
        evaluation(org_id, "u", 3, environment="b", scores={"z": 3.0, "é": 0.0}),
        evaluation(f"{org_id}-other", "s", 1, environment="c", scores={"theirs": 1.0}),
    ]
    store.insert(clickhouse, rows)
    assert environments(clickhouse, org_id) == ["a", "b"]
    assert score_keys(clickhouse, org_id) == ["a, b", "z", "é"]


@pytest.mark.parametrize("cursor", ["", "?", "AAAA", "kwEC", "kgGhYQ"])
def test_a_foreign_cursor_is_refused(clickhouse: ClickHouse, org_id: str, cursor: str) -> None:
    with pytest.raises(Invalid):
        page(clickhouse, org_id, EvaluationFilters(), limit=2, cursor=cursor)
