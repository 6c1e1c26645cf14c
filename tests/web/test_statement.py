"""`?as=sql`: for each list and each filter, the statement's rows are those of the list."""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.foundation.clickhouse.filters import Filter, Filters
from shared.foundation.core.clock import to_us
from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest.drain import Drain
from shared.intake.ingest.rules import IngestRulesCache
from shared.reading.evaluations import store
from shared.reading.evaluations.filters import EvaluationFilters
from shared.reading.events.filters import EventFilters
from shared.reading.events.latency.query import LatencyFilters
from shared.reading.sessions.selection import SessionFilters
from tests.support.app import Headers, new_key
from tests.support.evaluations import evaluation
from tests.support.runtime import Org, make_org

BEGUN = datetime(2026, 11, 3, 12, tzinfo=UTC)
# What a shell, a URL, JSON, SQL or a template could read otherwise. Ids have no line breaks,
# environments no commas either.
HOSTILE_ID = """it's "5" \\ $HOME `id` $(id) $1 %41 {x} [y] é, -- \\' é {}"""
HOSTILE_PLACE = HOSTILE_ID.replace(",", ";")
HOSTILE = f"{HOSTILE_ID}\n\tDROP; \r--\x01\u202e"
LONGEST = [f"{number} {HOSTILE_ID}"[:20] + "'" * 230 for number in range(100)]
NAMED = {"user_id": HOSTILE_ID, "agent_version": "book", "tags": ["book", HOSTILE_PLACE[:40]]}
SESSIONS = (HOSTILE_ID, *(f"s{number}" for number in range(12)))


def _events() -> Iterator[dict[str, Any]]:
    """Yields pairs of events that lack keys, share them, have no end, or end before they start."""
    chance = random.Random(7)
    for number in range(260):
        session = SESSIONS[number % len(SESSIONS)]
        is_hostile = session == HOSTILE_ID
        kind = chance.choice(("tool_use", "tool_result", "model_request", "hook_completed"))
        name = HOSTILE if is_hostile else chance.choice(("book", "find"))
        offset = 300 * (number % len(SESSIONS)) + chance.randrange(300)
        moment = BEGUN + timedelta(seconds=offset, microseconds=number)
        yield {
            "session_id": session,
            "timestamp": moment.isoformat(),
            "type": kind,
            "agent_id": HOSTILE_ID if is_hostile else f"agent {number % len(SESSIONS) % 3}",
            "environment": HOSTILE_PLACE if is_hostile else chance.choice(("canary", "production")),
            "text": chance.choice((HOSTILE, "Payment amount", "naïve\\", 'say "no"', 12.5, None)),
            "other": {"deep": [number, "payment"]},
            **({"tool_name": name, "model": name, "hook_name": name} if number % 5 else {}),
            **({"trigger_event": name} if number % 2 else {}),
            **({"tool_call_id": f"c{chance.randrange(12)}"} if chance.random() < 0.7 else {}),
            **({"error": "no", "error_type": name} if chance.random() < 0.2 else {}),
            **({"input_tokens": number} if number % 3 else {}),
            **_dimensions(number),
        }


def _dimensions(number: int) -> dict[str, Any]:
    """Returns the dimensions of an event, which some sessions have, some of them once."""
    place, is_third = number % len(SESSIONS), number % 3 == 0
    is_named = number % 2 == 0
    of_place: dict[int, dict[str, Any]] = {
        0: {"user_id": HOSTILE_ID},
        1: {"user_id": "book", "tags": ["book"]},
        2: {"agent_version": "book", "attributes": {"plan": "book", "a:b": HOSTILE_ID}},
        3: {"type": "model_response", "provider": "book", "service_tier": "book"},
        5: {"type": "model_response", "cost_usd": number / 8, **(NAMED if is_named else {})},
        7: {"type": "tool_result", "cost_usd": "0.1"},
    }
    return of_place.get(place, {}) if is_third else {}


@dataclass(frozen=True)
class Asked:
    """A client of an organization with events and results."""

    client: FlaskClient
    headers: Headers

    def get(self, path: str, **query: Any) -> Any:
        answer = self.client.get(f"/v1{path}", query_string=_written(query), headers=self.headers)
        assert answer.status_code == 200, answer.get_json()
        return answer.get_json()

    def rows(self, path: str, **query: Any) -> list[dict[str, Any]]:
        """Runs the statement of the same request; returns its rows by column."""
        sql = self.get(path, **query, **{"as": "sql"})["sql"]
        answer = self.client.post("/v1/queries/run", json={"sql": sql}, headers=self.headers)
        assert answer.status_code == 200, (sql, answer.get_json())
        body = answer.get_json()
        names = [column["name"] for column in body["columns"]]
        return [dict(zip(names, row, strict=True)) for row in body["rows"]]


def _written(query: dict[str, Any]) -> dict[str, Any]:
    """Returns a query string's parameters; a tuple has several values with commas."""
    return {
        name: ",".join(one.replace(",", "\\,") for one in value)
        if isinstance(value, tuple)
        else value
        for name, value in query.items()
    }


@pytest.fixture(scope="module")
def filled(web_runtime: Runtime, app: Any) -> Asked:
    """An organization whose names are partly hostile."""
    org = make_org(web_runtime)
    headers, client = new_key(web_runtime, org), app.test_client()
    lines = "\n".join(json.dumps(one) for one in _events())
    answer = client.post(
        "/v1/events", data=lines, headers={**headers, "Content-Type": "application/x-ndjson"}
    )
    assert answer.get_json()["skipped"] == 0, answer.get_json()
    Drain(web_runtime, "statements", IngestRulesCache(web_runtime)).run()
    store.insert(web_runtime.clickhouse, list(_results(org)))
    return Asked(client, headers)


def _results(org: Org) -> Iterator[Any]:
    for number in range(60):
        session = SESSIONS[number % (len(SESSIONS) - 2)]
        is_done = number % 4 != 3
        yield evaluation(
            org.id,
            session,
            to_us(BEGUN + timedelta(minutes=7 * number, seconds=1)),
            agent_id=HOSTILE_ID if session == HOSTILE_ID else f"agent {number % len(SESSIONS) % 3}",
            environment=HOSTILE_PLACE if session == HOSTILE_ID else "production",
            status="done" if is_done else ("error", "timeout")[number % 2],
            scores={"reward": number / 60, HOSTILE: -number / 3} if is_done else None,
        )
    for number in range(20):
        yield evaluation(
            org.id,
            SESSIONS[number % 7],
            to_us(BEGUN + timedelta(minutes=number, seconds=2)),
            evaluator=("own", HOSTILE)[number % 2],
            evaluator_version=str(number % 3),
            scores={"reward": number / 20} if number % 5 else None,
        )


LISTS: dict[str, tuple[type[Filters], str, str]] = {
    "/events": (EventFilters, "events", "id"),
    "/events/summary": (EventFilters, "events", "id"),
    "/sessions": (SessionFilters, "sessions", "session_id"),
    "/evaluations": (EvaluationFilters, "evaluations", "id"),
}


def _value(one: Filter) -> Any:
    """Returns a value of a filter that some rows have: a hostile one, where it is text."""
    of_texts = {
        "search": [HOSTILE, "amount"],
        "search_exclude": ("other",),
        "score_filters": (f"{HOSTILE}:-18..", "reward:..0.9"),
        "metric_filters": ("tokens:1750..", "event_count:..20", "duration_ms:0.5.."),
        "environment": (HOSTILE_PLACE, "canary"),
        "event_type": ("tool_use", HOSTILE),
        "event_id": ("1", "2"),
        "session_id": (HOSTILE_ID, "s2", "it's"),
        "agent_id": (HOSTILE_ID, "agent 1"),
        "model": (HOSTILE,),
        "cost_source": ("unpriced",),
    }
    if one.parameter in of_texts:
        return of_texts[one.parameter]
    if one.choices:
        return one.choices[-1]
    minutes = 10 if one.parameter.endswith("from") else 50
    moment = (BEGUN + timedelta(minutes=minutes)).isoformat()
    return {"flag": "true", "number": 1, "moment": moment}.get(one.type, (HOSTILE, "book"))


def _query(one: Filter) -> dict[str, Any]:
    """Returns the parameters of a filter with a value."""
    if one.parameter == "evaluator_version":
        return {"evaluator": ("own",), "evaluator_version": ("1", "2")}
    if one.type == "attributes":
        return {f"{one.parameter}.plan": ("book",)}
    return {one.parameter: ("user_id",) if one.parameter == "missing" else _value(one)}


EACH = [
    pytest.param(path, _query(one), id=f"{path[1:]} {one.parameter}")
    for path, (filters, _, _) in LISTS.items()
    for one in filters.declared
]
MORE: list[tuple[str, dict[str, Any]]] = [
    ("/events", {}),
    ("/events", {"order": "asc"}),
    ("/events", {"search": ["payment"], "search_exclude": ("text", HOSTILE)}),
    ("/events", {"search": ["12.5"]}),
    ("/events", {"search": ['say "no"', "naïve\\"]}),
    ("/events", {"search": [f"{number}" + "'" * 255 for number in range(10)]}),
    ("/events", {"agent_id": (*LONGEST, "agent 1"), "environment": ("canary", "production")}),
    ("/events", {"tool_name": (*LONGEST, HOSTILE), "session_id": (*LONGEST, HOSTILE_ID)}),
    ("/events", {"user_id": (HOSTILE_ID, *LONGEST), "attr.a:b": "*"}),
    ("/events", {"missing": ("agent_version", "tag", "attr.plan", "attr.x")}),
    ("/sessions", {"order": "asc"}),
    ("/sessions", {"attr.a:b": (HOSTILE_ID,), "missing": ("user_id", "tag", "attr.x")}),
    ("/sessions", {"session_id": (*LONGEST, HOSTILE_ID)}),
    ("/sessions", {"agent_id": (*LONGEST, HOSTILE_ID), "status": ("none", "error")}),
    ("/sessions", {"status": ("done",), "score_filters": ("reward:0.2..0.9",)}),
    ("/sessions", {"status": ("none",), "score_filters": ("reward:0.2..0.9",)}),
    ("/sessions", {"score_filters": tuple(f"{'k' * 400}{number}:0.." for number in range(20))}),
    ("/sessions", {"metric_filters": ("cost_usd:0.6..", "model_calls:..6", "error_count:0..")}),
    ("/sessions", {"metric_filters": ("cost_usd:..0.6",), "order": "asc"}),
    ("/evaluations", {"latest_per_session": "true", "status": ("error", "timeout")}),
    ("/evaluations", {"evaluator": ("*",)}),
    ("/evaluations", {"evaluator": ("*",), "latest_per_session": "true"}),
    ("/evaluations", {"evaluator": ("own", "default"), "score_filters": ("reward:0.2..0.9",)}),
    ("/evaluations", {"evaluator": (HOSTILE,), "lowest": "reward"}),
    ("/evaluations", {"lowest": HOSTILE}),
    ("/evaluations", {"lowest": "reward", "agent_id": (HOSTILE_ID, "agent 2")}),
    (
        "/evaluations",
        {
            "time": "session",
            "ts_from": (BEGUN + timedelta(minutes=50)).isoformat(),
            "ts_to": (BEGUN + timedelta(minutes=58)).isoformat(),
        },
    ),
]


@pytest.mark.parametrize(("path", "query"), [*EACH, *MORE])
def test_the_rows_are_those_of_the_list(filled: Asked, path: str, query: dict[str, Any]) -> None:
    _, rows, key = LISTS[path]
    answered = [row[key] for row in filled.get(path, limit=1000, **query)[rows]]
    assert [row[key] for row in filled.rows(path, **query)] == answered


@pytest.mark.parametrize("path", LISTS)
def test_most_filters_choose_some_rows(filled: Asked, path: str) -> None:
    """Otherwise the comparison above would be one of nothing with nothing."""
    filters, rows, _ = LISTS[path]
    everything = len(filled.get(path, limit=1000)[rows])
    counts = {
        one.parameter: len(filled.get(path, limit=1000, **_query(one))[rows])
        for one in filters.declared
        if one.parameter not in ("event_id", "search_exclude", "time")
    }
    assert {name: n for name, n in counts.items() if not 0 < n < everything} == {}


ORDERS = (
    "started_at",
    "duration",
    "event_count",
    "cost_usd",
    "error_count",
    "tokens",
    "score:reward",
)


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("sort", [*ORDERS, f"score:{HOSTILE}"])
def test_sessions_are_in_the_order_of_the_list(filled: Asked, sort: str, order: str) -> None:
    query = {"sort": sort, "order": order, "ts_from": BEGUN.isoformat()}
    ids = [row["session_id"] for row in filled.get("/sessions", limit=200, **query)["sessions"]]
    assert len(ids) == len(SESSIONS)
    assert [row["session_id"] for row in filled.rows("/sessions", **query)] == ids


def test_a_sessions_events(filled: Asked) -> None:
    ids = filled.get("/sessions/s3/outline", event_type=("tool_use",))["columns"]["id"]
    assert ids
    assert [
        row["id"] for row in filled.rows("/sessions/s3/outline", event_type=("tool_use",))
    ] == ids


def test_failures(filled: Asked) -> None:
    query = {"tool_name": ("book", HOSTILE), "group_by": "message"}
    total = filled.get("/events/error_summary", **query)["total"]
    assert len(filled.rows("/events/error_summary", **query)) == total > 0


FIGURES = ("p50", "p95", "p99", "max")


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"environment": ("canary",), "outcome": "success"},
        {"tool_name": (HOSTILE, "book"), "agent_id": (*LONGEST[:40], HOSTILE_ID, "agent 1")},
        {"errored": "true", "distribution_key_paths": "agent_id"},
        {"attr.plan": "book"},
        {"missing": ("user_id", "attr.plan")},
        {"start_event_type": "model_request", "end_event_type": "hook_completed"},
        *({one.parameter: _value(one)} for one in LatencyFilters.declared if one.type == "any_of"),
    ],
)
def test_latencies(filled: Asked, query: dict[str, Any]) -> None:
    bounds = {
        "ts_from": BEGUN.isoformat(),
        "ts_to": (BEGUN + timedelta(hours=2)).isoformat(),
        "pair_key_paths": "tool_call_id",
        "distribution_limit": 500,
        **query,
    }
    answer = filled.get("/events/latency_aggregate", **bounds)
    rows = filled.rows("/events/latency_aggregate", **bounds)
    summary, shown = answer["summary"], {next(iter(row.values())): row for row in rows}
    if not summary["count"]:
        assert not rows or rows[0]["count"] == 0
        return
    for key, figures in [
        ("(all)", summary),
        *((one["key"], one) for one in answer["distribution"]),
    ]:
        row = shown.pop(key)
        assert [row[name] for name in FIGURES] == pytest.approx([figures[name] for name in FIGURES])
        assert (row["count"], row["errors"]) == (figures["count"], figures["error_count"])
    assert not shown


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"agent_id": (HOSTILE_ID, "agent 1"), "bucket": "hour"},
        {"time": "session", "bucket": "minute"},
        {"time": "session", "ts_from": (BEGUN + timedelta(minutes=45)).isoformat()},
        {"latest_per_session": "true", "bucket": "week"},
        {"evaluator": ("*",), "bucket": "minute"},
        {"evaluator": (HOSTILE,), "time": "session"},
    ],
)
def test_scores_over_time(filled: Asked, query: dict[str, Any]) -> None:
    series = json.dumps([["*", "*", "reward", "avg"]])
    answer = filled.get("/evaluations/aggregate", series=series, **query)
    rows = filled.rows("/evaluations/aggregate", series=series, **query)
    found: dict[str, list[tuple[float, int]]] = {}
    for row in rows:
        if row["score"] == "reward":
            found.setdefault(row["at"][:19], []).append((row["average"], row["results"]))
    drawn = {
        point["ts"][:19]: point["value"]
        for point in answer["series"][0]["points"]
        if point["value"] is not None
    }
    assert drawn
    assert {at.replace(" ", "T") for at in found} == set(drawn)
    for at, parts in found.items():
        mean = sum(value * count for value, count in parts) / sum(count for _, count in parts)
        assert drawn[at.replace(" ", "T")] == pytest.approx(mean)


@pytest.mark.parametrize(
    ("group_by", "query"),
    [
        ("", {}),
        ("model,provider", {"sort": "tokens"}),
        ("user_id,agent_version", {}),
        ("tag,environment", {"sort": "calls"}),
        ("attr.a:b,attr.plan", {}),
        ("session_id,service_tier", {"environment": ("canary", HOSTILE_PLACE)}),
        ("agent_id", {"user_id": (HOSTILE_ID,), "bucket": "day"}),
        ("cost_source", {"missing": ("tag",), "ts_to": (BEGUN + timedelta(hours=1)).isoformat()}),
    ],
)
def test_costs(filled: Asked, group_by: str, query: dict[str, Any]) -> None:
    """The amounts are equal to the last digit: the statement adds decimals up, too."""
    asked = {"ts_from": BEGUN.isoformat(), "limit": 500, "group_by": group_by, **query}
    answer = filled.get("/costs", **asked)
    groups = answer["groups"] if group_by else [{"key": {}, **answer["total"]}]
    assert any(group["cost_usd"] for group in groups)
    rows = filled.rows("/costs", **asked)
    assert rows == [{**group.pop("key"), **group} for group in groups]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"pair_key_paths": "input.city"}, "pair_key_paths"),
        ({"distribution_key_paths": "tool_name,model"}, "distribution_key_paths"),
        ({"payload_contains": "a:b"}, "payload_contains"),
        ({"as": "text"}, "as"),
    ],
)
def test_what_no_statement_can_say_is_refused(
    filled: Asked, query: dict[str, Any], field: str
) -> None:
    answer = filled.client.get(
        "/v1/events/latency_aggregate",
        query_string={"as": "sql", **query},
        headers=filled.headers,
    )
    assert answer.status_code == 422
    assert set(answer.get_json()["fields"]) == {field}


def test_a_statement_that_could_not_run_is_refused(filled: Asked) -> None:
    needles = [f"{number}" + "\x01" * 255 for number in range(10)]
    answer = filled.client.get(
        "/v1/events", query_string={"as": "sql", "search": needles}, headers=filled.headers
    )
    assert (answer.status_code, answer.get_json()["code"]) == (422, "statement_too_long")


@pytest.mark.parametrize(
    "path",
    [
        *LISTS,
        *("/events/error_summary", "/events/latency_aggregate", "/evaluations/aggregate"),
        "/costs",
    ],
)
def test_a_statement_needs_the_permission_to_run_it(
    client: FlaskClient, key: Callable[..., Headers], path: str
) -> None:
    headers = key("events:read", "evaluations:read")
    assert client.get(f"/v1{path}", headers=headers).status_code == 200
    answer = client.get(f"/v1{path}", query_string={"as": "sql"}, headers=headers)
    assert answer.status_code == 403
    assert answer.get_json()["required_permission"] == "queries:run"
