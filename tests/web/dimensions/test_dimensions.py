"""Dimensions over HTTP: from an event to keys, values, filters and rows."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.foundation.core.clock import format_ts, now, to_us
from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest.drain import Drain
from shared.intake.ingest.rules import IngestRulesCache
from shared.reading.dimensions.attribute_keys import MAX_KEYS, AttributeKeys
from shared.reading.evaluations import store
from tests.support.app import Headers
from tests.support.evaluations import evaluation
from tests.support.runtime import Org

Send = Callable[..., None]


@pytest.fixture
def headers(key: Callable[..., Headers]) -> Headers:
    return key("events:add", "events:read", "evaluations:read", "settings:write")


@pytest.fixture
def send(client: FlaskClient, headers: Headers, runtime: Runtime) -> Send:
    """Sends events a second apart, and stores them without a worker."""
    rules = IngestRulesCache(runtime)

    def store(*events: dict[str, Any]) -> None:
        first = now() - timedelta(minutes=5)
        lines = [
            json.dumps(
                {
                    "timestamp": format_ts(first + timedelta(seconds=number)),
                    "type": "note",
                    "session_id": "s",
                    **one,
                }
            )
            for number, one in enumerate(events)
        ]
        answer = client.post(
            "/v1/events",
            data="\n".join(lines),
            headers=headers,
            content_type="application/x-ndjson",
        )
        assert (answer.status_code, answer.get_json()["skipped"]) == (202, 0)
        Drain(runtime, "dimensions", rules).run()

    return store


@pytest.fixture
def get(client: FlaskClient, headers: Headers) -> Callable[..., Any]:
    def read(path: str, **query: object) -> Any:
        answer = client.get(f"/v1/{path}", query_string=query, headers=headers)
        assert answer.status_code == 200, answer.get_json()
        return answer.get_json()

    return read


def values(get: Callable[..., Any], field: str, **query: object) -> list[tuple[str, int]]:
    found = get("dimensions/values", field=field, **query)["values"]
    return [(one["value"], one["sessions"]) for one in found]


def test_values_of_sessions_are_counted(send: Send, get: Callable[..., Any]) -> None:
    send(
        {"session_id": "a", "user_id": "zoe", "tags": ["x", "y"], "metadata": {"plan": "pro"}},
        {"session_id": "b", "user_id": "zoe", "release": "7", "agent_id": "desk"},
        {"session_id": "c", "user_id": "Ann", "environment": "staging", "model": "m"},
        {"session_id": "c", "type": "model_response", "provider": "openai", "model": "m"},
    )
    assert values(get, "user_id") == [("zoe", 2), ("Ann", 1)]
    assert values(get, "user_id", q="an") == [("Ann", 1)]
    assert values(get, "tag") == [("x", 1), ("y", 1)]
    assert values(get, "attr.plan") == [("pro", 1)]
    assert values(get, "agent_version") == [("7", 1)]
    assert values(get, "agent_id") == [("main", 2), ("desk", 1)]
    assert values(get, "environment") == [("default", 2), ("staging", 1)]
    assert values(get, "model") == [("m", 1)]
    assert values(get, "provider") == [("openai", 1)]
    assert values(get, "user_id", **{"attr.plan": "*"}) == [("zoe", 1)]
    first = get("dimensions/values", field="user_id", limit=1)
    assert (len(first["values"]), first["truncated"]) == (1, True)


def test_a_row_has_the_dimensions_of_its_session(send: Send, get: Callable[..., Any]) -> None:
    send(
        {"n": 1},
        {"user_id": "zoe", "agent_version": "2", "tags": "x", "attributes": {"plan": "pro"}},
        {"user_id": "ann", "type": "agent_pause"},
    )
    rows = get("events", order="asc")["events"]
    shown = [(row["user_id"], row["agent_version"], row["tags"], row["attributes"]) for row in rows]
    assert shown == [
        ("zoe", "2", [], {}),
        ("zoe", "2", ["x"], {"plan": "pro"}),
        ("zoe", "2", [], {}),
    ]
    one = get(f"sessions/s/events/{rows[0]['id']}")
    assert (one["user_id"], one["payload"].get("user_id")) == ("zoe", None)
    [session] = get("sessions")["sessions"]
    for name, value in (
        ("user_id", "zoe"),
        ("agent_version", "2"),
        ("tags", ["x"]),
        ("attributes", {"plan": "pro"}),
    ):
        assert session[name] == value


def test_a_user_who_is_named_later_has_the_whole_session(
    send: Send, get: Callable[..., Any]
) -> None:
    send({"n": 1})
    assert get("events", user_id="zoe")["events"] == []
    send({"n": 2, "user_id": "zoe"})
    assert len(get("events", user_id="zoe")["events"]) == 2


# A read → the sessions in its answer, each as often as it counts.
READS: dict[str, Callable[[Any], list[str]]] = {
    "events": lambda body: [row["session_id"] for row in body["events"]],
    "events/summary": lambda body: [row["session_id"] for row in body["events"]],
    "events/error_summary": lambda body: [row["key"] for row in body["groups"]],
    "events/latency_aggregate": lambda body: [row["key"] for row in body["distribution"]],
    "sessions/a/outline": lambda body: ["a"] * bool(body["total"]),
    "sessions": lambda body: [row["session_id"] for row in body["sessions"]],
    "evaluations": lambda body: [row["session_id"] for row in body["evaluations"]],
    "evaluations/aggregate": lambda body: [row["key"] for row in body["score_stats"]],
    "exports/events": lambda lines: [row["session_id"] for row in lines],
    "exports/sessions": lambda lines: [row["session_id"] for row in lines],
    "exports/evaluations": lambda lines: [row["session_id"] for row in lines],
}
FILTERS: list[tuple[dict[str, str], str]] = [
    ({"user_id": "zoe,x"}, "a"),
    ({"agent_version": "7"}, "a"),
    ({"tag": "x"}, "a"),
    ({"attr.plan": "pro"}, "a"),
    ({"attr.plan": "*", "attr.seats": "4"}, "a"),
    ({"attr.plan": "free"}, ""),
    ({"missing": "user_id,agent_version,tag,attr.plan"}, "b"),
    ({"missing": "tag", "user_id": "zoe"}, ""),
]


def test_all_reads_take_the_filters(
    client: FlaskClient, headers: Headers, send: Send, runtime: Runtime, org: Org
) -> None:
    """The sessions have the tools and scores of their names, which show in sums."""
    dimensions = {
        "user_id": "zoe",
        "release": "7",
        "tags": "x",
        "metadata": {"plan": "pro", "seats": 4},
    }
    send(
        *(
            {"session_id": name, "type": kind, "tool_name": name, "error": error, **fields}
            for name, fields in (("a", dimensions), ("b", {}))
            for kind, error in (("tool_use", None), ("tool_result", "no"))
        )
    )
    done = to_us(now())
    results = [evaluation(org.id, name, done, scores={name: 1.0}) for name in "ab"]
    store.insert(runtime.clickhouse, results)
    for path, sessions_of in READS.items():
        for given, expected in FILTERS:
            more = {"group_by": "tool_name"} if path == "events/error_summary" else {}
            answer = client.get(f"/v1/{path}", query_string={**given, **more}, headers=headers)
            assert answer.status_code == 200, answer.get_json()
            is_file = path.startswith("exports/")
            body = [*map(json.loads, answer.text.splitlines())] if is_file else answer.get_json()
            known = {*expected} - ({"b"} if "/a/" in path else set())
            assert {*sessions_of(body)} == known, (path, given)


def test_two_users_of_a_session_have_their_calls_and_the_first_one_the_others(
    send: Send, get: Callable[..., Any]
) -> None:
    def calls_of(user: str) -> list[int]:
        rows = get("events", user_id=user, order="asc")["events"]
        assert {row["user_id"] for row in rows} <= {user}
        return [row["payload"]["n"] for row in rows]

    call = {"type": "model_response", "model": "m", "input_tokens": 1}
    users: list[dict[str, str]] = [{}, {"user_id": "zoe"}, {}, {"user_id": "ann"}, {}]
    send(*({**call, **user, "n": n} for n, user in enumerate(users)))
    assert (calls_of("zoe"), calls_of("ann")) == ([0, 1, 2, 4], [3])
    for user in ("zoe", "ann"):
        [session] = get("sessions", user_id=user)["sessions"]
        assert (session["user_id"], session["model_calls"]) == ("zoe", 5)
    # The order of events decides who is the first, and not that of arrival.
    send({**call, "n": 5, "user_id": "eve", "timestamp": format_ts(now() - timedelta(hours=1))})
    assert (calls_of("eve"), calls_of("zoe"), calls_of("ann")) == ([5, 0, 2, 4], [1], [3])
    assert get("sessions")["sessions"][0]["user_id"] == "eve"


def test_what_is_left_out_is_counted(send: Send, get: Callable[..., Any]) -> None:
    send({"user_id": "x" * 257, "metadata": {"a b": 1, "list": [], "plan": "pro"}})
    found = get("dimensions")
    assert found["left_out"] == {
        "too_long": 1,
        "too_many": 0,
        "bad_key": 1,
        "not_scalar": 1,
        "keys_full": 0,
    }
    [key] = found["attributes"]
    assert (key["key"], key["sessions"], found["users"]) == ("plan", 1, 0)


def test_further_keys_than_a_thousand_have_no_place(
    send: Send, get: Callable[..., Any], runtime: Runtime, org: Org
) -> None:
    taken = [f"k{number}" for number in range(MAX_KEYS - 1)]
    assert not AttributeKeys(runtime.redis).refused(org.id, taken)
    send({"metadata": {"k0": 1, "plan": "pro", "region": "eu"}})
    found = get("dimensions")
    assert (found["left_out"]["keys_full"], found["left_out_keys"]) == (1, ["region"])
    assert [one["key"] for one in found["attributes"]] == ["k0", "plan"]


def test_a_path_of_the_setting_is_an_attribute(
    client: FlaskClient, headers: Headers, send: Send, get: Callable[..., Any]
) -> None:
    name = "/v1/settings/dimensions.attribute_keys"
    many = client.put(name, json=[f"k{number}" for number in range(33)], headers=headers)
    assert (many.status_code, "at most 32" in many.text) == (422, True)
    assert client.put(name, json=["customer.plan"], headers=headers).status_code == 200
    send({"customer": {"plan": "pro"}})
    assert values(get, "attr.customer.plan") == [("pro", 1)]


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        ("dimensions/values", {"field": "nothing"}, "field"),
        ("dimensions/values", {"field": "attr.a b"}, "field"),
        ("events", {"attr.a b": "x"}, "attr.a b"),
        ("events", {f"attr.k{number}": "x" for number in range(9)}, "attr"),
        ("sessions", {"missing": "agent_id"}, "missing"),
        ("evaluations", {"missing": "attr."}, "missing"),
        ("events", {"missing": ",".join(f"attr.k{number}" for number in range(9))}, "missing"),
        *((path, {"attr.a b": "x"}, "attr.a b") for path in READS),
        *((path, {f"attr.k{number}": "x" for number in range(9)}, "attr") for path in READS),
    ],
)
def test_bad_names_are_refused(
    client: FlaskClient, headers: Headers, path: str, query: dict[str, str], field: str
) -> None:
    answer = client.get(f"/v1/{path}", query_string=query, headers=headers)
    assert answer.status_code == 422
    assert list(answer.get_json()["fields"]) == [field]
