"""The cost of one call with its parts, and those of a session."""

from typing import Any

from flask.testing import FlaskClient

from tests.support.app import Headers
from tests.web.costs.conftest import Get, Send

CALL = {
    "model": "house-1",
    "provider": "acme",
    "input_tokens": 10_000,
    "cache_read_tokens": 6_000,
    "output_tokens": 1_000,
}
PRICE = {"model": "house-*", "prices": {"input": 3, "output": 15, "cache_read": 0.3}}


def cost_of(get: Get, event_id: int) -> Any:
    return get(f"sessions/s/events/{event_id}")["cost"]


def test_a_call_has_the_parts_of_its_cost(
    client: FlaskClient, headers: Headers, send: Send, get: Get
) -> None:
    price = client.post("/v1/prices", json=PRICE, headers=headers).get_json()
    send([CALL, {**CALL, "cost_usd": 0.5, "n": 2}, {"model": "nobody's"}, {"type": "note"}])
    events = {(one["cost_source"], one["event_type"]): one["id"] for one in get("events")["events"]}
    stored = cost_of(get, events["computed", "model_response"])
    quote = client.post(
        "/v1/prices/quote", json={**CALL, "timestamp": "2026-10-24T12:00:00Z"}, headers=headers
    ).get_json()
    assert stored == {**quote, "reported_usd": None, "computed_usd": 0.0288}
    assert [line["class"] for line in stored["lines"]] == ["input", "output", "cache_read"]
    reported = cost_of(get, events["reported", "model_response"])
    assert reported == {**stored, "cost_source": "reported", "cost_usd": 0.5, "reported_usd": 0.5}
    unpriced = cost_of(get, events["unpriced", "model_response"])
    assert (unpriced["cost_usd"], unpriced["lines"], unpriced["price"]) == (None, [], None)
    assert unpriced["unpriced_reason"] == "no_price"
    assert cost_of(get, events[None, "note"]) is None

    path = f"/v1/prices/{price['id']}"
    dearer = {**PRICE, "prices": {"input": 4, "output": 15, "cache_read": 0.3}}
    changed = client.put(path, json=dearer, headers=headers).get_json()
    after = cost_of(get, events["computed", "model_response"])
    assert after == {**stored, "lines": [], "price": changed}
    client.delete(path, headers=headers)
    assert cost_of(get, events["computed", "model_response"]) == {**after, "price": None}


def test_a_session_lists_what_its_calls_cost(send: Send, get: Get) -> None:
    dear = {"model": "gpt-4o", "provider": "openai", "input_tokens": 1_000_000, "output_tokens": 1}
    send(
        [
            {**CALL, "agent_id": "desk"},
            dear,
            {**dear, "n": 2},
            {"type": "tool_result", "cost_usd": "0.25"},
            {**dear, "session_id": "other"},
        ]
    )
    rows = get("sessions/s")["costs"]
    shown = [
        (one["agent_id"], one["model"], one["provider"], one["calls"], one["cost_usd"])
        for one in rows
    ]
    assert shown == [
        ("main", "gpt-4o", "openai", 2, 5.00002),
        ("main", None, None, 1, 0.25),
        ("desk", "house-1", "acme", 1, None),
    ]
    assert (rows[0]["input_tokens"], rows[2]["unpriced_calls"]) == (2_000_000, 1)
