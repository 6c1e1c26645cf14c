"""GET /events and /events/summary: fields, filters, order and pages."""

import json
import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from shared.foundation.core.clock import format_ts, now
from shared.foundation.deployment.runtime import Runtime
from tests.support.airline import Airline
from tests.support.app import Headers, new_key
from tests.support.runtime import Org, make_org

Store = Callable[[Sequence[object]], None]
Listed = Callable[..., list[dict[str, Any]]]

START = now().replace(microsecond=0) - timedelta(hours=2)


def event(second: float, **fields: object) -> dict[str, object]:
    return {
        "session_id": "s",
        "timestamp": format_ts(START + timedelta(seconds=second)),
        "type": "note",
        **fields,
    }


def test_the_fields_of_a_row(store: Store, listed: Listed) -> None:
    sent = event(
        0,
        type="model_response",
        agent_id="a",
        environment="e",
        model="openai/gpt-4o",
        input_tokens=1000,
        output_tokens=280,
        stop_reason="end_turn",
        nothing=None,
    )
    store([sent])
    [row] = listed()
    assert isinstance(row.pop("id"), int)
    assert row == {
        "session_id": "s",
        "agent_id": "a",
        "event_type": "model_response",
        "ts": sent["timestamp"],
        "environment": "e",
        "is_error": False,
        "error_type": None,
        "input_tokens": 1000,
        "output_tokens": 280,
        "context_window": 128_000,
        "context_fill": 0.01,
        **dict.fromkeys(("user_id", "agent_version", "provider", "service_tier")),
        "tags": [],
        "attributes": {},
        **dict.fromkeys(("cache_read_tokens", "cache_write_tokens", "cache_write_1h_tokens")),
        "reasoning_tokens": None,
        # 2.50 a million tokens in, 10 out.
        "cost_usd": 0.0053,
        "cost_source": "computed",
        "payload": sent,
    }
    [summary] = listed(path="/v1/events/summary")
    assert summary["summary"] == "openai/gpt-4o → end_turn, 1000+280 tokens"
    assert "payload" not in summary


def test_the_payload_is_returned_byte_for_byte(
    store: Store, client: FlaskClient, reader: Headers
) -> None:
    odd = json.dumps(event(0))[:-1] + ',"n": 1e400,  "a":"\\u00e9\\/", "a":2}'
    store([odd.encode()])
    assert odd.encode() in client.get("/v1/events", headers=reader).data


def test_events_of_one_timestamp_keep_the_order_of_their_batch(
    store: Store, listed: Listed
) -> None:
    store([event(0, n=n) for n in range(300)])
    ascending = [row["payload"]["n"] for row in listed("order=asc&limit=7")]
    assert ascending == list(range(300))
    assert [row["payload"]["n"] for row in listed("limit=50")] == list(range(300))[::-1]


def test_resent_and_shuffled_events_are_listed_once_in_their_first_order(
    store: Store, listed: Listed
) -> None:
    events = [event(n // 3, n=n) for n in range(100)]
    store(events)
    again = events[:]
    random.Random(1).shuffle(again)
    store(again)
    assert [row["payload"]["n"] for row in listed("order=asc&limit=9")] == list(range(100))


def test_events_far_apart_are_all_found(store: Store, listed: Listed) -> None:
    days = [0, 1, 20, 400, 4000, 9000]
    events = [
        {**event(0, n=n), "timestamp": format_ts(START - timedelta(days=day))}
        for n, day in enumerate(days)
    ]
    store(events)
    assert [row["payload"]["n"] for row in listed("limit=2")] == list(range(len(days)))
    assert [row["payload"]["n"] for row in listed("limit=2&order=asc")] == [5, 4, 3, 2, 1, 0]


FILTERED = [
    event(0, n=0, session_id="a/b", agent_id="planner", environment="prod"),
    event(1, n=1, session_id="c,d", type="tool_use", tool_name="find", tool_call_id="1"),
    event(2, n=2, type="tool_result", tool_name="find", error="boom", environment="prod"),
    event(3, n=3, type="error", error_type="ToolError", message="Überfall: 100% weird"),
    event(4, n=4, type="hook_triggered", hook_name="guard", trigger_event="PreToolUse"),
    event(5, n=5, type="model_response", model="m-1", content='say "hi" / bye', note="x"),
]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("session_id=a%2Fb", [0]),
        ("session_id=c%5C%2Cd", [1]),
        ("session_id=c%5C%2Cd,a%2Fb", [1, 0]),
        ("agent_id=planner", [0]),
        ("agent_id=planner,main", [5, 4, 3, 2, 1, 0]),
        ("event_type=tool_use,tool_result", [2, 1]),
        ("environment=prod", [2, 0]),
        ("environment=prod&event_type=tool_result", [2]),
        ("error_type=ToolError", [3]),
        ("trigger_event=PreToolUse", [4]),
        ("tool_name=find", [2, 1]),
        ("hook_name=guard", [4]),
        ("model=m-1", [5]),
        ("errored=true", [3, 2]),
        ("errored=false", [5, 4, 3, 2, 1, 0]),
        ("search=" + quote("überFALL"), [3]),
        ("search=100%25", [3]),
        ("search=boom&search=guard", [4, 2]),
        ("search=" + quote('say "hi" / b'), [5]),
        ("search=say&search_exclude=content", []),
        ("search=say&search_exclude=note,message", [5]),
        ("tool_name=nothing", []),
        ("ts_from=" + quote(format_ts(START + timedelta(seconds=3))), [5, 4, 3]),
        ("ts_to=" + quote(format_ts(START + timedelta(seconds=3))), [2, 1, 0]),
        ("ts_from=" + quote((START + timedelta(seconds=5)).isoformat()), [5]),
    ],
)
def test_filters(store: Store, listed: Listed, query: str, expected: list[int]) -> None:
    store(FILTERED)
    assert [row["payload"]["n"] for row in listed(query)] == expected
    summaries = listed(f"{query}&limit=1", path="/v1/events/summary")
    assert len(summaries) == len(expected)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("ts_from=yesterday", "ts_from"),
        ("ts_to=2026-11-01T00:00:00", "ts_to"),
        ("limit=0", "limit"),
        ("limit=many", "limit"),
        ("order=up", "order"),
        ("cursor=abc", "cursor"),
        ("cursor=%FF", "cursor"),
        ("cursor=kwEC_w", "cursor"),
        ("errored=perhaps", "errored"),
        ("search=" + "x" * 300, "search.0"),
    ],
)
def test_a_bad_parameter_is_named(
    client: FlaskClient, reader: Headers, query: str, field: str
) -> None:
    answer = client.get(f"/v1/events?{query}", headers=reader)
    assert answer.status_code == 422
    assert list(answer.get_json()["fields"]) == [field]


def test_limit_above_the_cap_is_the_cap(store: Store, client: FlaskClient, reader: Headers) -> None:
    store([event(n / 1000, n=n) for n in range(1005)])
    answer = client.get("/v1/events?limit=99999", headers=reader).get_json()
    assert (len(answer["events"]), answer["next_cursor"] is None) == (1000, False)
    assert len(client.get("/v1/events", headers=reader).get_json()["events"]) == 50


def test_pages_stay_put_while_events_are_added(
    store: Store, client: FlaskClient, reader: Headers
) -> None:
    store([event(n, n=n) for n in range(100)])
    seen: list[int] = []
    cursor = ""
    for round_ in range(20):
        page = client.get(f"/v1/events?limit=10{cursor}", headers=reader).get_json()
        seen += [row["payload"]["n"] for row in page["events"]]
        store([event(1000 + round_, n=1000 + round_)])
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert seen == list(range(100))[::-1]


def test_another_organization_sees_nothing(
    store: Store, client: FlaskClient, runtime: Runtime, listed: Listed
) -> None:
    store(FILTERED)
    [event_id] = {row["id"] for row in listed("tool_name=find&event_type=tool_use")}
    stranger = new_key(runtime, make_org(runtime), ["events:read"])
    for path in ("events", "events/summary", "events?session_id=a%2Fb", "events?search=boom"):
        answer = client.get(f"/v1/{path}", headers=stranger)
        assert answer.get_json() == {"events": [], "next_cursor": None}
        assert str(event_id).encode() not in answer.data
    assert client.get("/v1/events/tool_names", headers=stranger).get_json() == []


@pytest.mark.parametrize(
    ("facet", "expected"),
    [
        ("environments", ["default", "prod"]),
        (
            "event_types",
            ["error", "hook_triggered", "model_response", "note", "tool_result", "tool_use"],
        ),
        ("agent_ids", ["main", "planner"]),
        ("models", ["m-1"]),
        ("tool_names", ["find"]),
        ("hook_names", ["guard"]),
        ("error_types", ["ToolError"]),
        ("trigger_events", ["PreToolUse"]),
    ],
)
def test_facets(
    store: Store, client: FlaskClient, reader: Headers, facet: str, expected: list[str]
) -> None:
    store(FILTERED)
    assert client.get(f"/v1/events/{facet}", headers=reader).get_json() == expected


def test_a_value_of_a_megabyte_is_no_choice(
    store: Store, client: FlaskClient, reader: Headers
) -> None:
    store([event(0, tool_name="x" * 1025), event(1, tool_name="x" * 1024)])
    assert client.get("/v1/events/tool_names", headers=reader).get_json() == ["x" * 1024]


def test_a_trigger_that_has_not_fired_for_90_days_is_absent(
    store: Store, client: FlaskClient, reader: Headers
) -> None:
    old = format_ts(datetime.now(UTC) - timedelta(days=91))
    hook = {"type": "hook_triggered", "hook_name": "h"}
    store(
        [
            event(0, trigger_event="New", **hook),
            {**event(0, trigger_event="Old", **hook), "timestamp": old},
        ]
    )
    assert client.get("/v1/events/trigger_events", headers=reader).get_json() == ["New"]


def test_the_recording_pages_through_exactly(
    store: Store, listed: Listed, airline: Airline
) -> None:
    recent = airline.recent()
    store(recent.lines)
    rows = listed("limit=1000&order=asc")
    assert [row["payload"] for row in rows] == [json.loads(line) for line in recent.lines]


def test_pages_of_large_events_are_short_and_lose_none(
    store: Store, client: FlaskClient, reader: Headers, listed: Listed
) -> None:
    """40 MB of payloads, small ones between the large, two events of each moment."""
    sent = [event(n // 2, n=n, x="a" * (1_000_000 if n % 3 else 10)) for n in range(60)]
    for start in range(0, 60, 12):
        store(sent[start : start + 12])
    page = client.get("/v1/events?limit=1000", headers=reader)
    assert len(page.data) < 33 * 1024 * 1024
    assert page.get_json()["next_cursor"] is not None
    for order, expected in (("asc", sent), ("desc", sent[::-1])):
        rows = listed(f"limit=1000&order={order}")
        assert [row["payload"] for row in rows] == expected
    assert len(listed("limit=1000", path="/v1/events/summary")) == 60


def test_another_organization_with_the_same_keys_changes_no_page(
    runtime: Runtime, org: Org, store: Store, listed: Listed
) -> None:
    """Ids, moments and arrivals are equal.

    They are the keys of the second step for large payloads.
    """
    sent = [event(0, x="a"), event(1, x="a" * 40_000)]
    store(sent)
    before, after = "!", "~"
    for other in (before, after):
        runtime.clickhouse.execute(
            "INSERT INTO events SELECT * REPLACE({other:String} AS org_id, 'foreign' AS agent_id,"
            " repeat('b', length(payload)) AS payload) FROM events WHERE org_id = {org:String}",
            {"org": org.id, "other": other + org.id},
        )
    for query in ("order=asc", "order=asc&session_id=s", "order=asc&limit=1"):
        assert [row["payload"] for row in listed(query)] == sent
    assert {row["agent_id"] for row in listed("order=asc")} == {"main"}


def test_events_are_found_by_their_ids(store: Store, listed: Listed) -> None:
    store(FILTERED)
    wanted = [row["id"] for row in listed("")][1:3]
    assert [row["id"] for row in listed(f"event_id={wanted[1]},{wanted[0]},nothing")] == wanted
