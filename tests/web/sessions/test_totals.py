"""GET /v1/sessions/totals."""

import itertools
import random
from collections.abc import Callable
from decimal import Decimal
from statistics import mean
from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.deployment.runtime import Runtime
from shared.reading.evaluations import store
from tests.support.airline import Airline
from tests.support.app import Headers
from tests.support.evaluations import evaluation
from tests.support.events import event, store_events
from tests.support.runtime import Org
from tests.web.sessions.test_list import read_all

Key = Callable[..., Headers]
SCORE = "reward"


@pytest.fixture
def clickhouse(runtime: Runtime) -> ClickHouse:
    return runtime.clickhouse


def totals(client: FlaskClient, headers: Headers, **query: str) -> Any:
    answer = client.get("/v1/sessions/totals", query_string=query, headers=headers)
    assert answer.status_code == 200, answer.json
    return answer.json


def test_they_are_those_of_the_listed_sessions(
    client: FlaskClient, clickhouse: ClickHouse, org: Org, key: Key, airline: Airline
) -> None:
    """For each filter, with results that are newer than the sessions, and with events twice."""
    lines = airline.recent().lines
    store_events(clickhouse, org.id, lines)
    stored = store_events(clickhouse, org.id, lines[::2])
    headers = key("evaluations:read")
    source = random.Random(2)
    ids = sorted({one.session_id for one in stored})[::2]
    done = max(one.ts for one in stored)
    older = [evaluation(org.id, one, done + 1, scores={SCORE: 9}) for one in ids]
    newer = [evaluation(org.id, one, done + 2, scores={SCORE: source.random()}) for one in ids]
    store.insert(clickhouse, [*newer, *older])
    some = next(read_all(client, headers))
    queries: list[dict[str, str]] = [
        {},
        {"agent_id": str(some["agent_id"]), "environment": str(some["environment"])},
        {"session_id": ",".join(ids[:7])},
        {"status": "none"},
        {"score_filters": f"{SCORE}:0.3..0.8"},
        {"ts_from": str(some["started_at"])},
        {"ts_to": str(some["last_event_at"])},
        {"session_id": "none such"},
    ]
    for query in queries:
        rows: list[Any] = list(read_all(client, headers, limit=200, **query))
        results = [row["latest_evaluation"] for row in rows]
        scores = [result["scores"][SCORE] for result in results if result]
        found = totals(client, headers, score_key=SCORE, **query)
        assert found["sessions"] == len(rows)
        for name in ("event_count", "error_count", "input_tokens", "output_tokens"):
            assert found[name] == sum(row[name] for row in rows), (query, name)
        average = pytest.approx(mean(scores)) if scores else None
        assert found["score"] == {"key": SCORE, "count": len(scores), "avg": average}, query
        points = found["timeline"]["points"]
        assert len(points) <= 200
        assert sum(point["sessions"] for point in points) == len(rows)
        for point, following in itertools.pairwise(points):
            inside = [row for row in rows if point["ts"] <= row["last_event_at"] < following["ts"]]
            assert point["sessions"] == len(inside)
            assert point["error_count"] == sum(row["error_count"] for row in inside)
            sums = (row["input_tokens"] + row["output_tokens"] for row in inside)
            assert point["tokens"] == sum(sums)


def test_costs_are_those_of_the_listed_sessions(
    client: FlaskClient, clickhouse: ClickHouse, org: Org, key: Key
) -> None:
    """A session whose calls have no price is in no mean, and no price at all is no cost of 0."""
    calls = [("a", "0.1"), ("a", "0.2"), ("a", None), ("b", "0"), ("c", None)]
    clickhouse.insert(
        "events",
        {
            "org_id": [org.id] * len(calls),
            "id": [*range(1, len(calls) + 1)],
            "session_id": [session for session, _ in calls],
            "agent_id": ["agent"] * len(calls),
            "event_type": ["model_response"] * len(calls),
            "environment": ["production"] * len(calls),
            "ts": [1_793_520_000_000_000 + place for place in range(len(calls))],
            "arrival": [*range(len(calls))],
            "payload": [b"{}"] * len(calls),
            "cost_source": ["computed" if cost else "unpriced" for _, cost in calls],
            "cost_usd": [cost and Decimal(cost) for _, cost in calls],
        },
    )
    headers = key("evaluations:read")
    rows: list[Any] = list(read_all(client, headers))
    found = totals(client, headers)
    for name in ("model_calls", "unpriced_calls"):
        assert found[name] == sum(row[name] for row in rows)
    assert (found["model_calls"], found["unpriced_calls"]) == (5, 2)
    assert (found["priced_sessions"], found["cost_usd"]) == (2, 0.3)
    assert [point["cost_usd"] for point in found["timeline"]["points"] if point["sessions"]] == [
        0.3
    ]
    unpriced = totals(client, headers, session_id="c")
    assert (unpriced["priced_sessions"], unpriced["cost_usd"]) == (0, None)


def test_without_sessions_and_without_a_key(
    client: FlaskClient, clickhouse: ClickHouse, org: Org, key: Key
) -> None:
    headers = key("evaluations:read")
    nothing = totals(client, headers)
    assert (nothing["sessions"], nothing["score"], nothing["timeline"]["points"]) == (0, None, [])
    store_events(clickhouse, org.id, [event("totals", "10:00:00")])
    one = totals(client, headers, score_key=SCORE)
    assert (one["sessions"], one["score"]) == (1, {"key": SCORE, "count": 0, "avg": None})


def test_a_malformed_filter_is_named(client: FlaskClient, key: Key) -> None:
    headers = key("evaluations:read")
    answer = client.get("/v1/sessions/totals?status=gone", headers=headers)
    assert answer.status_code == 422
    assert list(answer.json["fields"]) == ["status"]  # type: ignore[index]


@pytest.mark.parametrize("name", [".", "..", "totals"])
def test_special_ids_have_paths_too(
    client: FlaskClient, clickhouse: ClickHouse, org: Org, key: Key, name: str
) -> None:
    store_events(clickhouse, org.id, [event(name, "10:00:00")])
    headers = key("evaluations:read", "events:read")
    for path in ("", "/outline", "/export"):
        answer = client.get(f"/v1/sessions/%1D{name}{path}", headers=headers)
        assert answer.status_code == 200
    row = client.get(f"/v1/sessions/%1D{name}", headers=headers).get_json()
    assert row["session_id"] == name
