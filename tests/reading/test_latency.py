"""GET /events/latency_aggregate on the airline recording, compared with the slow computation."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.reading.conftest import NEWEST, AirlineOrg
from tests.reading.latencies import Event, Wanted, aggregate

UNTIL = NEWEST + timedelta(seconds=1)
SINCE = UNTIL - timedelta(days=1)
MODEL = {"start_event_type": "model_request", "end_event_type": "model_response"}
HOOK = {"start_event_type": "hook_triggered", "end_event_type": "hook_completed"}
HUMAN = {"start_event_type": "human_wait", "end_event_type": "human_input"}
AGENT = {"start_event_type": "agent_start", "end_event_type": "agent_end"}


def has(path: str, *values: str) -> Callable[[Event], bool]:
    return lambda event: event.text(path) in values


def contains(path: str, text: str) -> Callable[[Event], bool]:
    return lambda event: text.lower() in event.text(path).lower()


def speaks_of(*texts: str) -> Callable[[Event], bool]:
    return lambda event: any(
        text in json.dumps(event.payload, ensure_ascii=False).lower() for text in texts
    )


def is_error(event: Event) -> bool:
    return event.is_error


# Parameters of the request → their meaning for the slow computation.
CASES: list[tuple[dict[str, str], dict[str, Any]]] = [
    ({}, {}),
    ({"outcome": "success", "bin_count": "7"}, {"outcome": "success", "bin_count": 7}),
    ({"outcome": "error", "bin_count": "1"}, {"outcome": "error", "bin_count": 1}),
    ({"bin_count": "168"}, {"bin_count": 168}),
    ({"environment": "canary,staging"}, {"filters": [has("environment", "canary", "staging")]}),
    (
        {"tool_name": "book_reservation,cancel_reservation", "errored": "true"},
        {"filters": [has("tool_name", "book_reservation", "cancel_reservation"), is_error]},
    ),
    ({"agent_id": "airline-support"}, {"filters": [has("agent_id", "airline-support")]}),
    (
        {"session_id": "airline-000-t0,airline-007-t2,airline-031-t1"},
        {"filters": [has("session_id", "airline-000-t0", "airline-007-t2", "airline-031-t1")]},
    ),
    ({"event_type": "tool_use"}, {"filters": [has("event_type", "tool_use")]}),
    ({"search": "economy"}, {"filters": [speaks_of("economy")]}),
    (
        {
            "payload_contains": "input.cabin:ECON,output:reservation_id",
            "distribution_key_paths": "input.cabin,input.flight_type",
        },
        {
            "filters": [contains("input.cabin", "econ"), contains("output", "reservation_id")],
            "names": ["input.cabin", "input.flight_type"],
        },
    ),
    ({"distribution_key_paths": "input.user_id"}, {"names": ["input.user_id"]}),
    (
        {"pair_key_paths": "nothing", "distribution_key_paths": "environment"},
        {"keys": ["nothing"], "names": ["environment"]},
    ),
    ({"pair_key_paths": "tool_name,nothing.at.all"}, {"keys": ["tool_name", "nothing.at.all"]}),
    (
        {**MODEL, "payload_sum_paths": "in:input_tokens,out:output_tokens,ms:duration_ms"},
        {
            "names": ["model"],
            "sums": {"in": "input_tokens", "out": "output_tokens", "ms": "duration_ms"},
        },
    ),
    (
        {**MODEL, "model": "gpt-4o", "payload_contains": "stop_reason:end"},
        {"names": ["model"], "filters": [has("model", "gpt-4o"), contains("stop_reason", "end")]},
    ),
    (
        {**MODEL, "distribution_key_paths": "stop_reason", "pair_key_paths": "request_id"},
        {"names": ["stop_reason"], "keys": ["request_id"]},
    ),
    (
        {**HOOK, "hook_name": "policy-check", "trigger_event": "PreToolUse"},
        {
            "names": ["hook_name"],
            "filters": [has("hook_name", "policy-check"), has("trigger_event", "PreToolUse")],
        },
    ),
    (HUMAN, {"names": ["agent_id"]}),
    (
        {**HUMAN, "pair_key_paths": "input_id", "distribution_key_paths": "session_id"},
        {"names": ["session_id"], "keys": ["input_id"]},
    ),
    (
        {**AGENT, "distribution_key_paths": "outcome,environment"},
        {"names": ["outcome", "environment"]},
    ),
    (
        {"start_event_type": "tool_use", "end_event_type": "error", "error_type": "ToolError"},
        {"filters": [has("error_type", "ToolError")]},
    ),
    (
        {"start_event_type": "human_input", "end_event_type": "model_response"},
        {"names": ["agent_id"]},
    ),
    (
        {
            "start_event_type": "tool_use",
            "end_event_type": "hook_completed",
            "pair_key_paths": "tool_call_id,hook_id,tool_name",
        },
        {"keys": ["tool_call_id", "hook_id", "tool_name"]},
    ),
]
# In turn: the whole recording, and a part that cuts sessions at both ends.
RANGES = ((SINCE, UNTIL), (SINCE + timedelta(hours=5), UNTIL - timedelta(hours=3)))


@pytest.fixture(scope="module")
def exported(airline_org: AirlineOrg, app: Any) -> list[Event]:
    """Returns the events of all sessions, as in GET /sessions/{id}/export."""
    client: FlaskClient = app.test_client()
    lines = []
    for session_id in sorted(airline_org.recording.labels):
        answer = client.get(f"/v1/sessions/{session_id}/export", headers=airline_org.headers)
        assert answer.status_code == 200
        lines += answer.get_data().splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) == len(airline_org.recording.lines)
    return [
        Event(place, datetime.fromisoformat(row["ts"]), row["payload"])
        for place, row in enumerate(rows)
    ]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_every_field_is_what_the_slow_computation_finds(
    airline_org: AirlineOrg,
    exported: list[Event],
    client: FlaskClient,
    number: int,
) -> None:
    given, meaning = CASES[number]
    since, until = RANGES[number % 2]
    query = {"ts_from": since.isoformat(), "ts_to": until.isoformat(), **given}
    answer = client.get(
        "/v1/events/latency_aggregate", query_string=query, headers=airline_org.headers
    )
    assert answer.status_code == 200, answer.get_json()
    start = given.get("start_event_type", "tool_use")
    end = given.get("end_event_type", "tool_result")
    expected = aggregate(exported, Wanted(since, until, start, end, **meaning))
    assert expected["summary"]["count"] > 0
    require_same(answer.get_json(), expected, "answer")


def require_same(found: Any, expected: Any, where: str) -> None:
    """Checks that all fields are equal, apart from the last digits of interpolated numbers."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for name, value in expected.items():
            require_same(found[name], value, f"{where}.{name}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for index, value in enumerate(expected):
            require_same(found[index], value, f"{where}[{index}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-9), where
    else:
        assert found == expected, where
