"""GET /v1/sessions."""

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
from flask.testing import FlaskClient

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.clock import format_us, to_us
from shared.foundation.deployment.runtime import Runtime
from shared.reading.evaluations import store
from tests.support.airline import Airline
from tests.support.app import Headers
from tests.support.evaluations import evaluation
from tests.support.events import Stored, by_session, event, store_events
from tests.support.runtime import Org

Key = Callable[..., Headers]
# After the events of all sessions, in microseconds.
DONE = to_us(datetime(2026, 11, 2, 14, tzinfo=UTC))


@pytest.fixture
def clickhouse(runtime: Runtime) -> ClickHouse:
    return runtime.clickhouse


def read_all(client: FlaskClient, headers: Headers, **query: object) -> Iterator[dict[str, object]]:
    cursor: str | None = None
    while True:
        parameters = {**query, **({} if cursor is None else {"cursor": cursor})}
        answer = client.get("/v1/sessions", query_string=parameters, headers=headers)
        assert answer.status_code == 200, answer.json
        yield from answer.json["sessions"]  # type: ignore[index]
        cursor = answer.json["next_cursor"]  # type: ignore[index]
        if cursor is None:
            return


def row_of(events: list[Stored]) -> dict[str, object]:
    """Returns the row of a session of one agent without evaluations, computed here."""
    ends = [item for item in events if item.event_type == "agent_end"]
    return {
        "session_id": events[0].session_id,
        "agent_id": events[0].agent_id,
        "agents": [{"agent_id": events[0].agent_id, "event_count": len(events)}],
        "environment": events[0].environment,
        "event_count": len(events),
        "error_count": sum(item.is_error for item in events),
        "started_at": format_us(events[0].ts),
        "last_event_at": format_us(events[-1].ts),
        "ended_at": format_us(ends[-1].ts) if ends else None,
        "outcome": ends[-1].outcome if ends else None,
        "failed": bool(ends) and ends[-1].is_error,
        "first_event_id": events[0].event_id,
        "last_event_id": events[-1].event_id,
        "input_tokens": sum(item.input_tokens or 0 for item in events),
        "output_tokens": sum(item.output_tokens or 0 for item in events),
        "user_id": None,
        "agent_version": None,
        "tags": [],
        "attributes": {},
        "cache_read_tokens": sum(item.cache_read_tokens or 0 for item in events),
        **dict.fromkeys(("cache_write_tokens", "cache_write_1h_tokens", "reasoning_tokens"), 0),
        "model_calls": 0,
        "unpriced_calls": 0,
        **dict.fromkeys(("cost_usd", "reported_usd", "computed_usd")),
        "latest_evaluation": None,
    }


def test_the_recording_comes_back_as_its_200_sessions(
    client: FlaskClient, clickhouse: ClickHouse, org: Org, key: Key, airline: Airline
) -> None:
    stored = store_events(clickhouse, org.id, airline.recent().lines)
    copies = [item.line for item in stored]
    random.Random(1).shuffle(copies)
    stored += store_events(clickhouse, org.id, copies)
    wanted = [row_of(events) for events in by_session(stored).values()]
    wanted.sort(key=lambda row: (row["last_event_at"], row["session_id"]), reverse=True)
    found = list(read_all(client, key("evaluations:read"), limit=33))
    assert len(found) == 200
    assert found == wanted
    assert list(read_all(client, key("evaluations:read"), limit=67, order="asc")) == wanted[::-1]


def test_the_order_holds_for_filters_and_times(
    client: FlaskClient, clickhouse: ClickHouse, org: Org, key: Key
) -> None:
    """Also where sessions end at one moment, and where a session went on after others."""
    lines = [event(f"s{number}", f"1{number % 3}:00:00", agent_id="a") for number in range(7)]
    store_events(clickhouse, org.id, [event("long", "09:00:00"), *lines, event("long", "11:30:00")])
    headers = key("evaluations:read")

    def names(**query: object) -> list[object]:
        return [row["session_id"] for row in read_all(client, headers, **query)]

    oldest_first = ["s0", "s3", "s6", "s1", "s4", "long", "s2", "s5"]
    assert names(order="asc", limit=2) == oldest_first
    assert names(order="desc", limit=3) == names(limit=50) == oldest_first[::-1]
    assert names(order="asc", agent_id="a", limit=4) == [n for n in oldest_first if n != "long"]
    bounds = {"ts_from": "2026-11-02T11:00:00Z", "ts_to": "2026-11-02T12:00:00Z"}
    assert names(order="asc", **bounds) == ["s1", "s4", "long"]
    assert names(order="asc", session_id="s5,s0,long") == ["s0", "long", "s5"]
    answer = client.get("/v1/sessions?order=newest", headers=headers)
    assert answer.status_code == 422


def test_filters_and_the_newest_evaluation(
    client: FlaskClient, clickhouse: ClickHouse, org: Org, key: Key
) -> None:
    lines = [
        event("a,b", "10:00:00", agent_id="x/y", environment="staging"),
        event("a", "11:00:00", agent_id="x/y"),
        event("b", "12:00:00.5"),
    ]
    store_events(clickhouse, org.id, lines)
    older = evaluation(org.id, "a", DONE + 1_000_000, status="error", error="no")
    newer = evaluation(
        org.id, "a", DONE + 2_000_000, scores={"well, done": 0.5}, reasoning={"well, done": "so"}
    )
    store.insert(clickhouse, [newer, older])
    headers = key("evaluations:read")

    def names(**query: str) -> list[object]:
        return [row["session_id"] for row in read_all(client, headers, **query)]

    assert names() == ["b", "a", "a,b"]
    assert names(session_id=r"a\,b,b") == ["b", "a,b"]
    assert names(agent_id="x/y") == ["a", "a,b"]
    assert names(environment="staging,none") == ["a,b"]
    assert names(status="done") == ["a"]
    assert names(status="error") == []
    assert names(status="none,done") == ["b", "a", "a,b"]
    assert names(score_filters=r"well\, done:0.5..") == ["a"]
    assert names(score_filters=r"well\, done:0.6..") == []
    assert names(ts_from="2026-11-02T11:00:00Z", ts_to="2026-11-02T13:00:00.5+01:00") == ["a"]
    (row,) = read_all(client, headers, session_id="a")
    assert row["latest_evaluation"] == {
        "evaluation_id": newer.evaluation_id,
        "id": newer.evaluation_id,
        "session_id": "a",
        "agent_id": "main",
        "environment": "production",
        "status": "done",
        "scores": {"well, done": 0.5},
        "reasoning": {"well, done": "so"},
        "summary": None,
        "error": None,
        "attempt_count": 1,
        "duration_ms": None,
        "completed_at": "2026-11-02T14:00:02.000000Z",
        "created_at": "2026-11-02T14:00:02.000000Z",
        "evaluator": "default",
        "results": [
            {
                "key": "well, done",
                "kind": "number",
                "value": 0.5,
                "reasoning": "so",
                "passed": None,
                "unit": None,
                "labels": [],
                "evidence": [],
                "flags": [],
            }
        ],
        "stale": False,
        **dict.fromkeys(("evaluator_version", "trigger", "covers", "usage")),
        **dict.fromkeys(("coverage", "backfill_id")),
    }


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("status", "done,gone"),
        ("score_filters", "success"),
        ("score_filters", "success:nan.."),
        ("score_filters", ",".join(["k:0..1"] * 21)),
        ("ts_from", "2026-11-02T10:00:00"),
        ("ts_to", "yesterday"),
        ("limit", "0"),
        ("cursor", "none-of-ours"),
    ],
)
def test_a_malformed_parameter_is_named(
    client: FlaskClient, key: Key, parameter: str, value: str
) -> None:
    headers = key("evaluations:read")
    answer = client.get("/v1/sessions", query_string={parameter: value}, headers=headers)
    assert answer.status_code == 422
    assert list(answer.json["fields"]) == [parameter]  # type: ignore[index]


def test_a_limit_over_the_cap_is_clamped(
    client: FlaskClient, clickhouse: ClickHouse, org: Org, key: Key
) -> None:
    store_events(clickhouse, org.id, [event(f"s-{n}", "10:00:00") for n in range(201)])
    headers = key("evaluations:read")
    for limit, rows in ((None, 50), (1000, 200)):
        query = {} if limit is None else {"limit": limit}
        answer = client.get("/v1/sessions", query_string=query, headers=headers)
        assert len(answer.json["sessions"]) == rows  # type: ignore[index]


def test_sessions_need_their_permission(client: FlaskClient, key: Key) -> None:
    assert client.get("/v1/sessions").status_code == 401
    answer = client.get("/v1/sessions", headers=key("events:read"))
    assert answer.status_code == 403
    assert answer.json["required_permission"] == "evaluations:read"  # type: ignore[index]


def test_a_page_of_sessions_with_large_results_ends_before_its_limit(
    client: FlaskClient, clickhouse: ClickHouse, org: Org, key: Key
) -> None:
    text = "because " * 1_000_000
    store_events(clickhouse, org.id, [event(f"s{n}", f"10:00:0{9 - n}") for n in range(7)])
    results = [evaluation(org.id, f"s{n}", DONE + n, reasoning={"x": text}) for n in range(6)]
    store.insert(clickhouse, results)
    store.insert(clickhouse, [evaluation(org.id, "s3", DONE, reasoning={"x": "before"})])
    headers = key("evaluations:read")
    first = client.get("/v1/sessions", headers=headers).get_json()
    # 32 MiB hold four of them.
    assert [row["session_id"] for row in first["sessions"]] == ["s0", "s1", "s2", "s3"]
    cursor = {"cursor": first["next_cursor"]}
    rest = client.get("/v1/sessions", query_string=cursor, headers=headers).get_json()
    assert [row["session_id"] for row in rest["sessions"]] == ["s4", "s5", "s6"]
    assert rest["next_cursor"] is None
    latest = [row["latest_evaluation"] for row in first["sessions"] + rest["sessions"]]
    assert latest.pop() is None
    assert [row["id"] for row in latest] == [result.evaluation_id for result in results]
    assert all(row["reasoning"] == {"x": text} for row in latest)
