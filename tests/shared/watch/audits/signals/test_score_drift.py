"""Scores of evaluations that dropped compared with the previous window."""

import random
from statistics import mean

import pytest

from shared.foundation.clickhouse import ClickHouse
from shared.reading.evaluations import store
from shared.reading.evaluations.records import Evaluation
from shared.reading.queries.run import QueryRunner
from shared.watch.audits.signals.score_drift import find
from tests.shared.watch.audits.signals.lines import BEFORE_US, NOW, NOW_US, line
from tests.support.evaluations import evaluation
from tests.support.looks import found_by, ingest, look_at, nested, require_reproduced
from tests.support.runtime import Org


def results(
    org_id: str, start: int, average: float, count: int, key: str = "helpful", **fields: object
) -> list[Evaluation]:
    """Returns results around an average, with a deviation of 0.1, each of a separate session."""
    rng = random.Random(f"{start} {key}")
    drawn = [rng.gauss(0, 0.1) for _ in range(count)]
    middle = mean(drawn)
    return [
        evaluation(
            org_id,
            f"{key[:20]}-{start}-{n}",
            start + n * 60_000_000,
            **({"scores": {key: average + one - middle}} | fields),
        )
        for n, one in enumerate(drawn)
    ]


def put(clickhouse: ClickHouse, org_id: str, rows: list[Evaluation]) -> None:
    """Stores results, some of them twice, and an event of each session."""
    store.insert(clickhouse, rows)
    store.insert(clickhouse, rows[::3])
    sessions = sorted({row.session_id for row in rows})
    lines = [line(NOW, n, session_id, "agent_end") for n, session_id in enumerate(sessions)]
    ingest(clickhouse, org_id, lines)


def compared(
    org_id: str, before: float, now: float, count: int = 40, key: str = "helpful", **fields: object
) -> list[Evaluation]:
    """Returns results of both windows."""
    return [
        *results(org_id, BEFORE_US, before, count, key, **fields),
        *results(org_id, NOW_US, now, count, key, **fields),
    ]


def test_the_numbers_are_averages_of_results_that_count_once(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    before = results(org.id, BEFORE_US, 0.8, 50)
    now = results(org.id, NOW_US, 0.6, 40)
    failed = results(org.id, NOW_US + 1, 0.0, 30, status="error")
    put(clickhouse, org.id, before + now + failed)
    look = look_at(clickhouse, org.id)
    [candidate] = found_by(find, look).values()
    assert candidate.key == ("main", "helpful")
    assert candidate.numbers == {
        "evaluations": 40,
        "average": pytest.approx(0.6, abs=1e-6),
        "evaluations_before": 50,
        "average_before": pytest.approx(0.8, abs=1e-6),
    }
    low = [row for row in now if row.scores and row.scores["helpful"] < 0.8]
    assert candidate.affected_sessions == len(low)
    newest = [row.session_id for row in reversed(low)]
    assert list(candidate.session_ids) == newest[:20]
    require_reproduced(runner, look, candidate)


def test_drops_by_their_size(clickhouse: ClickHouse, org: Org) -> None:
    rows = []
    for key, before, now, count in (
        ("much", 0.8, 0.55, 60),
        ("some", 0.8, 0.74, 100),
        ("a little", 0.8, 0.765, 150),
        ("a hair", 0.8, 0.795, 150),
        ("better", 0.6, 0.9, 60),
        ("few", 0.8, 0.6, 15),
        ("fewer", 0.8, 0.6, 8),
    ):
        rows += compared(org.id, before, now, count, key=key)
    put(clickhouse, org.id, rows)
    low, medium, high = nested(find, look_at(clickhouse, org.id))
    assert {key for _, key in low} == {"much"}
    assert {key for _, key in medium} == {"much", "some"}
    assert {key for _, key in high} == {"much", "some", "a little", "few"}


def test_scores_that_never_vary_drop_when_they_do(clickhouse: ClickHouse, org: Org) -> None:
    for key, now in (("constant", 0.5), ("nearly", 0.995)):
        rows = compared(org.id, 1.0, 1.0, 30, key=key)
        put(
            clickhouse,
            org.id,
            [
                evaluation(
                    org.id,
                    row.session_id,
                    row.completed_at,
                    scores={key: now if row.completed_at >= NOW_US else 1.0},
                )
                for row in rows
            ],
        )
    assert set(found_by(find, look_at(clickhouse, org.id))) == {("main", "constant")}


def test_quality_that_halves_over_many_sessions_is_critical(
    clickhouse: ClickHouse, org: Org
) -> None:
    for key, now, count in (("lost", 0.3, 120), ("less", 0.7, 120), ("lost in few", 0.3, 40)):
        put(clickhouse, org.id, compared(org.id, 0.8, now, count, key=key))
    put(clickhouse, org.id, compared(org.id, 0.8, 0.755, 120, key="a bit"))
    found = found_by(find, look_at(clickhouse, org.id, sensitivity="high"))
    assert {key[1]: (one.severity, one.magnitude) for key, one in found.items()} == {
        "lost": ("critical", "big"),
        "lost in few": ("warning", "big"),
        "less": ("warning", "medium"),
        "a bit": ("info", "small"),
    }


def test_sessions_whose_events_are_gone_are_not_cited(clickhouse: ClickHouse, org: Org) -> None:
    rows = compared(org.id, 0.8, 0.5)
    store.insert(clickhouse, rows)
    assert found_by(find, look_at(clickhouse, org.id)) == {}
    kept = rows[-1].session_id
    ingest(clickhouse, org.id, [line(NOW, 1, kept, "agent_end")])
    [candidate] = found_by(find, look_at(clickhouse, org.id)).values()
    assert candidate.session_ids == (kept,)


@pytest.mark.parametrize("key", ["it's \\ a\nkey", "x" * 3000])
def test_any_key_can_be_asked_for_again(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner, key: str
) -> None:
    rows = compared(org.id, 0.8, 0.5, key="k")
    put(clickhouse, org.id, rows)
    renamed = [
        evaluation(org.id, row.session_id, row.completed_at, scores={key: (row.scores or {})["k"]})
        for row in rows
    ]
    put(clickhouse, org.id, renamed)
    look = look_at(clickhouse, org.id)
    found = found_by(find, look)
    require_reproduced(runner, look, found["main", key])
