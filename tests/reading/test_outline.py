"""GET /sessions/{id}/outline on the airline recording, compared with other reads of the same."""

import json
import random
from datetime import datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from shared.foundation.deployment.runtime import Runtime
from tests.reading import outlines
from tests.reading.conftest import NEWEST, AirlineOrg, ingest
from tests.support.airline import Airline
from tests.support.app import Headers, new_key
from tests.support.runtime import make_org

# The types of a family, and the key of its pairs.
FAMILIES = [
    ("tool_use", "tool_result", "tool_call_id"),
    ("model_request", "model_response", "request_id"),
    ("hook_triggered", "hook_completed", "hook_id"),
    ("human_wait", "human_input", "input_id"),
    ("agent_start", "agent_end", "agent_id"),
]
NAMES = {"tool": "tool_name", "hook": "hook_name", "model": "model", "error": "error_type"}
RANGE = {
    "ts_from": (NEWEST - timedelta(days=2)).isoformat(),
    "ts_to": (NEWEST + timedelta(seconds=1)).isoformat(),
}


def read_all(client: FlaskClient, headers: Headers, recording: Airline) -> dict[str, Any]:
    """Returns the outline of each session."""
    found = {}
    for session_id in recording.labels:
        answer = client.get(f"/v1/sessions/{session_id}/outline", headers=headers)
        assert answer.status_code == 200, answer.get_json()
        found[session_id] = answer.get_json()
    return found


@pytest.fixture(scope="module")
def outlined(airline_org: AirlineOrg, app: Flask) -> dict[str, Any]:
    """The outline of each session of the recording."""
    return read_all(app.test_client(), airline_org.headers, airline_org.recording)


def test_every_column_is_what_the_list_of_events_says(
    airline_org: AirlineOrg, outlined: dict[str, Any], client: FlaskClient
) -> None:
    for session_id in list(outlined)[:20]:
        query = {"session_id": session_id, "order": "asc", "limit": 1000}
        pages = [
            client.get(path, query_string=query, headers=airline_org.headers).get_json()["events"]
            for path in ("/v1/events", "/v1/events/summary")
        ]
        found = outlined[session_id]
        assert (found["total"], found["offset"]) == (len(pages[0]), 0)
        assert (found["prev_cursor"], found["next_cursor"]) == (None, None)
        assert found["base_ts"] == pages[0][0]["ts"]
        rows = [
            dict(zip(found["columns"], row, strict=True))
            for row in zip(*found["columns"].values(), strict=True)
        ]
        for row, event, summary in zip(rows, *pages, strict=True):
            payload = event["payload"]
            named = payload.get(NAMES.get(event["event_type"].split("_")[0], ""))
            fill = event["context_fill"]
            assert row.pop("t") == _us(event["ts"]) - _us(found["base_ts"])
            assert found["types"][row.pop("type")] == event["event_type"]
            assert found["agents"][row.pop("agent")]["agent_id"] == event["agent_id"]
            place = row.pop("name")
            assert (None if place == -1 else found["names"][place]) == named
            assert 0 <= row.pop("pair") < 2**53
            assert row == {
                "id": event["id"],
                "duration_ms": payload.get("duration_ms"),
                "error": int(event["is_error"]),
                "input_tokens": payload.get("input_tokens"),
                "output_tokens": payload.get("output_tokens"),
                "cost_usd": event["cost_usd"],
                "context_fill": None if fill is None else pytest.approx(fill, abs=5.1e-5),
                "summary": summary["summary"][:80],
            }


def test_pairs_of_the_outline_are_those_of_the_latency_aggregate(
    airline_org: AirlineOrg, outlined: dict[str, Any], client: FlaskClient
) -> None:
    require_same_pairs(client, airline_org.headers, outlined)


def test_they_are_the_same_however_events_arrive(
    runtime: Runtime, airline: Airline, client: FlaskClient
) -> None:
    org = make_org(runtime)
    recording = airline.recent(NEWEST)
    shuffled = list(recording.lines)
    random.Random(20250402).shuffle(shuffled)
    ingest(runtime, org, shuffled)
    headers = new_key(runtime, org, ("events:read",))
    require_same_pairs(client, headers, read_all(client, headers, recording))


def require_same_pairs(client: FlaskClient, headers: Headers, outlined: dict[str, Any]) -> None:
    """Compares the pairs of all sessions with the aggregate, family by family."""
    events = [outlines.events_of(one) for one in outlined.values()]
    for start, end, key in FAMILIES:
        query = {**RANGE, "start_event_type": start, "end_event_type": end, "pair_key_paths": key}
        answer = client.get("/v1/events/latency_aggregate", query_string=query, headers=headers)
        summary = answer.get_json()["summary"]
        found = outlines.figures(
            [outlines.latency(*pair) for one in events for pair in outlines.pairs(one, start, end)]
        )
        assert found["count"], start
        assert found == pytest.approx({name: summary[name] for name in found}, rel=1e-9), start


def test_the_events_of_one_search(
    airline_org: AirlineOrg, outlined: dict[str, Any], client: FlaskClient
) -> None:
    """`columns=id` with a search finds events for a page that shows their outline."""
    for session_id in list(outlined)[:5]:
        found = client.get(
            f"/v1/sessions/{session_id}/outline?search=economy&columns=id",
            headers=airline_org.headers,
        ).get_json()
        payloads = {
            row["id"]: json.dumps(row["payload"]).lower()
            for row in client.get(
                f"/v1/events?session_id={session_id}&limit=1000", headers=airline_org.headers
            ).get_json()["events"]
        }
        wanted = [
            one for one in outlined[session_id]["columns"]["id"] if "economy" in payloads[one]
        ]
        assert found["columns"] == {"id": wanted}
        assert found["total"] == len(wanted)


def _us(moment: str) -> int:
    return round(datetime.fromisoformat(moment).timestamp() * 1_000_000)
