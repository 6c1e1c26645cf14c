"""GET /evaluations/aggregate on the airline recording, compared with the slow computation."""

import json
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.foundation.core.clock import format_ts
from shared.foundation.deployment.runtime import Runtime
from shared.reading.evaluations import store
from shared.reading.evaluations.records import Evaluation
from tests.reading.conftest import NEWEST, AirlineOrg
from tests.reading.scores import Rule, Series, Wanted, aggregate, require_equal, results_of

AGGREGATES = ("avg", "min", "max", "p50", "p75", "p90", "p95", "p99", "stddev")
KEYS = ("success", "tools", "tools a turn", "cost, total", "politeness", "größe")
TUESDAY = NEWEST - timedelta(hours=7, minutes=3)


@pytest.fixture(scope="module")
def results(runtime: Runtime, airline_org: AirlineOrg) -> list[Evaluation]:
    """The results of the organization. Most were stored twice, in another order."""
    made = results_of(airline_org.recording, airline_org.org.id)
    for rows in (made[::3], made[::-2], made[1::3], made[2::3]):
        store.insert(runtime.clickhouse, rows)
    return made


def any_of(name: str, *values: str) -> Rule:
    return lambda row: getattr(row, name) in values


def score(key: str, low: float, high: float) -> Rule:
    return lambda row: bool(row.scores) and low <= (row.scores or {}).get(key, 1e300) <= high


EVERY_AGGREGATE: list[Series] = [("*", "*", "politeness", name) for name in AGGREGATES]
PLACES = (
    ("*", "*"),
    ("triage", "*"),
    ("*", "again, by hand"),
    ("airline-support", "production"),
    ("nobody", "*"),
)
MIXED: list[Series] = [(*PLACES[n % 5], KEYS[n % 6], AGGREGATES[n % 9]) for n in range(27)]

LATEST = {"latest_per_session": "true"}


def case(query: dict[str, str], **meaning: Any) -> tuple[dict[str, str], Wanted]:
    """Returns parameters of a request, and their meaning for the slow computation."""
    return query, Wanted(**meaning)


CASES = [
    case({}),
    case(LATEST, latest=True),
    case({"bucket": "minute"}, bucket="minute"),
    case({"bucket": "5m", **LATEST}, bucket="5m", latest=True),
    case(
        {"bucket": "hour", "series": json.dumps(EVERY_AGGREGATE)},
        bucket="hour",
        series=EVERY_AGGREGATE,
    ),
    case({"bucket": "day", "series": json.dumps(MIXED)}, bucket="day", series=MIXED),
    case(
        {"bucket": "week", "series": json.dumps(MIXED[10:]), **LATEST},
        bucket="week",
        series=MIXED[10:],
        latest=True,
    ),
    case(
        {"status": "error,timeout", "bucket": "6h"},
        rules=[any_of("status", "error", "timeout")],
        bucket="6h",
    ),
    case(
        {"status": "error", "bucket": "day", **LATEST},
        rules=[any_of("status", "error")],
        bucket="day",
        latest=True,
    ),
    case(
        {"environment": "production,again\\, by hand"},
        rules=[any_of("environment", "production", "again, by hand")],
    ),
    case(
        {"environment": "again\\, by hand", **LATEST},
        rules=[any_of("environment", "again, by hand")],
        latest=True,
    ),
    case(
        {"agent_id": "triage,*", "featured_keys": "größe,cost\\, total,nothing,größe"},
        rules=[any_of("agent_id", "triage", "*")],
        featured=["größe", "cost, total", "nothing", "größe"],
    ),
    case(
        {"session_id": "airline-000-t0,airline-007-t2,airline-031-t1"},
        rules=[any_of("session_id", "airline-000-t0", "airline-007-t2", "airline-031-t1")],
    ),
    case(
        {"score_filters": "success:1..,politeness:0.25..0.75"},
        rules=[score("success", 1, 1e9), score("politeness", 0.25, 0.75)],
    ),
    case(
        {"score_filters": "cost\\, total:..-1000000005", **LATEST},
        rules=[score("cost, total", -2e9, -1000000005)],
        latest=True,
    ),
    case({"ts_from": format_ts(TUESDAY), "bucket": "15m"}, since=TUESDAY, bucket="15m"),
    case({"ts_to": format_ts(TUESDAY), **LATEST}, until=TUESDAY, latest=True),
    case(
        {
            "ts_from": format_ts(TUESDAY),
            "ts_to": format_ts(TUESDAY + timedelta(days=9)),
            "series": json.dumps(MIXED[:7]),
        },
        since=TUESDAY,
        until=TUESDAY + timedelta(days=9),
        series=MIXED[:7],
    ),
    case(
        {
            "ts_from": format_ts(NEWEST + timedelta(days=2)),
            "ts_to": format_ts(NEWEST + timedelta(days=400)),
            "status": "done",
            "agent_id": "airline-support",
            "score_filters": "tools:2..",
            "featured_keys": "success",
            **LATEST,
        },
        rules=[
            any_of("status", "done"),
            any_of("agent_id", "airline-support"),
            score("tools", 2, 1e9),
        ],
        since=NEWEST + timedelta(days=2),
        until=NEWEST + timedelta(days=400),
        featured=["success"],
        latest=True,
    ),
]


@pytest.mark.parametrize(("query", "wanted"), CASES)
def test_the_aggregate_is_what_the_slow_computation_finds(
    client: FlaskClient,
    airline_org: AirlineOrg,
    results: list[Evaluation],
    query: dict[str, str],
    wanted: Wanted,
) -> None:
    answer = client.get(
        "/v1/evaluations/aggregate", query_string=query, headers=airline_org.headers
    )
    assert answer.status_code == 200, answer.get_json()
    expected = aggregate(results, wanted)
    assert expected["total"] > 0
    drawn = [
        any(point["value"] is not None for point in one["points"]) for one in expected["series"]
    ]
    assert drawn.count(True) >= len(drawn) / 2
    require_equal(answer.get_json(), expected, "$")


def test_histograms_count_every_score_once(
    client: FlaskClient, airline_org: AirlineOrg, results: list[Evaluation]
) -> None:
    answer = client.get("/v1/evaluations/aggregate?histogram=12", headers=airline_org.headers)
    body = answer.get_json()
    assert [row["key"] for row in body["histograms"]] == [row["key"] for row in body["score_stats"]]
    for found, stats in zip(body["histograms"], body["score_stats"], strict=True):
        scores = [row.scores or {} for row in results]
        values = [one[found["key"]] for one in scores if found["key"] in one]
        low, high = min(values), max(values)
        counts = [0] * 12
        for value in values:
            place = int((value - low) / (high - low) * 12) if high > low else 11
            counts[min(place, 11)] += 1
        assert found == {"key": found["key"], "min": low, "max": high, "counts": counts}
        assert sum(counts) == stats["count"]


def test_the_lowest_scores_of_all_results(
    client: FlaskClient, airline_org: AirlineOrg, results: list[Evaluation]
) -> None:
    answer = client.get("/v1/evaluations?lowest=politeness&limit=200", headers=airline_org.headers)
    scores = {row.evaluation_id: row.scores or {} for row in results}
    newest_first = sorted(
        results, key=lambda row: (row.completed_at, row.evaluation_id), reverse=True
    )
    scored = [row.evaluation_id for row in newest_first if "politeness" in (row.scores or {})]
    wanted = sorted(scored, key=lambda name: scores[name]["politeness"])
    assert [row["id"] for row in answer.get_json()["evaluations"]] == wanted[:200]


def test_results_are_as_various_as_the_cases_need(results: list[Evaluation]) -> None:
    assert {row.status for row in results} == {"done", "error", "timeout"}
    sessions = [row.session_id for row in results]
    assert max(map(sessions.count, sessions)) == 4
    assert len({(row.session_id, row.completed_at) for row in results}) < len(results) - 10
    assert len({row.environment for row in results}) > 2
