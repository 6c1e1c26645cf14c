"""Sessions, their exports, and their re-evaluation."""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from shared.reading.evaluations import store
from tests.support import evaluator as behave
from tests.support.app import Headers
from tests.support.document import Document
from tests.support.evaluations import evaluation
from tests.support.events import event, store_events
from tests.support.jobs import Bench
from web.app import create_app

Key = Callable[..., Headers]

EXPORT = "/v1/sessions/{session_id}/export"
RE_EVALUATE = "/v1/sessions/{session_id}/re-evaluate"


@pytest.fixture
def headers(key: Key) -> Headers:
    return key("events:read", "evaluations:read", "evaluations:trigger")


def test_a_session_is_added_up_from_its_events(
    client: FlaskClient, document: Document, bench: Bench, headers: Headers
) -> None:
    """Root: the first agent_start; ended_at and outcome: its last agent_end's; environment: the
    first event's.
    """
    note = {"agent_id": "helper", "environment": "staging"}
    root = {"agent_id": "root", "environment": "other", "input_tokens": 5}
    lines = [
        event("s", "10:00:00", "note", **note),
        event("s", "10:00:01", "agent_start", **root),
        event("s", "10:00:02", "agent_start", **note),
        event("s", "10:00:03", "agent_end", **root, outcome="success", output_tokens=2),
        event("s", "10:00:04", "agent_end", **root, outcome="Late", error="late"),
        event("s", "10:00:05", "agent_end", **note, outcome="success"),
        event("s", "10:00:06", "tool_use", **note),
    ]
    for _ in range(2):
        stored = store_events(bench.runtime.clickhouse, bench.org.id, lines)
    answer = client.get("/v1/sessions", headers=headers)
    [row] = document.require(answer, "GET", "/v1/sessions")["sessions"]
    assert row == {
        "session_id": "s",
        "agent_id": "root",
        "agents": [
            {"agent_id": "helper", "event_count": 4},
            {"agent_id": "root", "event_count": 3},
        ],
        "environment": "staging",
        "event_count": 7,
        "error_count": 1,
        "started_at": "2026-11-02T10:00:00.000000Z",
        "last_event_at": "2026-11-02T10:00:06.000000Z",
        "ended_at": "2026-11-02T10:00:04.000000Z",
        "outcome": "Late",
        "failed": True,
        "first_event_id": stored[0].event_id,
        "last_event_id": stored[-1].event_id,
        "input_tokens": 15,
        "output_tokens": 2,
        "user_id": None,
        "agent_version": None,
        "tags": [],
        "attributes": {},
        **dict.fromkeys(("cache_read_tokens", "cache_write_tokens", "cache_write_1h_tokens"), 0),
        "reasoning_tokens": 0,
        "model_calls": 0,
        "unpriced_calls": 0,
        **dict.fromkeys(("cost_usd", "reported_usd", "computed_usd")),
        "latest_evaluation": None,
    }


def test_latest_evaluation_is_a_row_of_evaluations(
    client: FlaskClient, document: Document, bench: Bench, headers: Headers
) -> None:
    bench.store("s", "agent_start")
    rows = [
        evaluation(bench.org.id, "s", 1_793_520_000_000_000 + n, scores={"a": n}) for n in (2, 1)
    ]
    store.insert(bench.runtime.clickhouse, rows)
    answer = client.get("/v1/sessions", headers=headers)
    [session] = document.require(answer, "GET", "/v1/sessions")["sessions"]
    answer = client.get("/v1/evaluations", headers=headers)
    newest, _ = document.require(answer, "GET", "/v1/evaluations")["evaluations"]
    assert session["latest_evaluation"] == newest
    assert newest["scores"] == {"a": 2.0}


def test_a_session_exists_from_its_first_event_of_any_type(
    client: FlaskClient, bench: Bench, headers: Headers
) -> None:
    store_events(bench.runtime.clickhouse, bench.org.id, [event("s", "10:00:00", "unheard_of")])
    listed = client.get("/v1/sessions?status=none", headers=headers).get_json()["sessions"]
    assert [(row["session_id"], row["agent_id"], row["ended_at"]) for row in listed] == [
        ("s", "main", None)
    ]
    assert client.get("/v1/sessions/s/export", headers=headers).status_code == 200


@pytest.mark.parametrize("session_id", ["a/b", ".", "..", "%2F", "a,b\\c", "\N{GRINNING FACE}?#&"])
def test_any_session_id_is_one_in_paths_and_in_filters(
    client: FlaskClient, document: Document, bench: Bench, headers: Headers, session_id: str
) -> None:
    bench.store(session_id, "agent_start", "agent_end")
    spelled = session_id.replace(",", "\\,")
    for path in ("/v1/sessions", "/v1/events"):
        found = client.get(path, query_string={"session_id": spelled}, headers=headers).get_json()
        assert {row["session_id"] for row in found[path.rpartition("/")[2]]} == {session_id}
    path = EXPORT.format(session_id=quote(session_id, safe=""))
    raw = {"RAW_URI": f"{path}?format=json"}
    answer = client.get(f"{path}?format=json", headers=headers, environ_overrides=raw)
    assert document.require(answer, "GET", EXPORT)["session_id"] == session_id


def test_the_json_export_is_byte_for_byte_what_the_evaluator_gets(
    client: FlaskClient, document: Document, bench: Bench, headers: Headers
) -> None:
    odd = b'{ "session_id":"s","timestamp":"2026-11-02T10:00:00+01:00","type":"x",\n"n":1e400}'
    store_events(bench.runtime.clickhouse, bench.org.id, [odd])
    bench.enqueue("s")
    bench.run()
    [request] = bench.evaluator.requests
    answer = client.get("/v1/sessions/s/export?format=json", headers=headers)
    assert answer.data == request.body
    assert "Content-Disposition" not in answer.headers
    body = document.require(answer, "GET", EXPORT)
    assert (body["schema_version"], body["agent_id"]) == ("1", "main")
    assert body["started_at"] == "2026-11-02T09:00:00.000000Z"
    assert body["ended_at"] == "2026-11-02T10:00:01.000000Z"
    assert odd in answer.data


def test_the_lines_of_an_export_are_attached_and_as_the_document_says(
    client: FlaskClient, document: Document, bench: Bench, headers: Headers
) -> None:
    bench.store("s-1", "agent_start", "tool_use", "agent_end")
    answer = client.get("/v1/sessions/s-1/export", headers=headers)
    assert answer.headers["Content-Type"] == "application/x-ndjson"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="session-s-1.jsonl"'
    content = document.operation("GET", EXPORT)["responses"]["200"]["content"]
    rows = [json.loads(line) for line in answer.data.splitlines()]
    for row in rows:
        document.check(row, content["application/x-ndjson"]["schema"], "a line")
    assert [row["event_type"] for row in rows] == ["agent_start", "tool_use", "agent_end"]


# (settings, state of the session, status and code of the answer)
REQUESTS: list[tuple[dict[str, Any], list[str], int, str | None]] = [
    ({}, ["agent_start", "agent_end"], 202, None),
    ({}, ["agent_start"], 409, "session_open"),
    ({"evaluator_endpoint": None}, ["agent_start", "agent_end"], 409, "evaluator_disabled"),
    ({"evaluator_orgs": "other,more"}, ["agent_start", "agent_end"], 403, None),
    ({}, [], 404, "not_found"),
    ({"evaluator_endpoint": None}, [], 404, "not_found"),
]


@pytest.mark.parametrize(("settings", "types", "status", "code"), REQUESTS)
def test_answers_to_a_request_to_evaluate_again(
    bench: Bench,
    document: Document,
    headers: Headers,
    settings: dict[str, Any],
    types: list[str],
    status: int,
    code: str | None,
    just_arrived: None,
) -> None:
    if types:
        bench.store("s", *types)
    bench.configure(**settings)
    client = create_app(bench.runtime).test_client()
    answer = client.post("/v1/sessions/s/re-evaluate", headers=headers)
    assert answer.status_code == status
    body = document.require(answer, "POST", RE_EVALUATE)
    if status == 202:
        assert body == {
            "session_id": "s",
            "status": "queued",
            "job_id": str(bench.job()["id"]),
        }
        answer = client.post("/v1/sessions/s/re-evaluate", headers=headers)
        assert answer.status_code == 409
        document.require(answer, "POST", RE_EVALUATE)
    elif code is not None:
        assert body["code"] == code


def test_the_job_is_listed_and_becomes_the_result_of_the_same_id(
    bench: Bench, document: Document, headers: Headers
) -> None:
    """`evaluation_id` is the job's id, `attempt_count` is at least 1, and results are appended."""
    bench.evaluator.script = [behave.pending("theirs", 5)]
    bench.store("s", "agent_start", "agent_end", environment="staging")
    client = create_app(bench.runtime).test_client()
    job_id = client.post("/v1/sessions/s/re-evaluate", headers=headers).get_json()["job_id"]
    bench.run()
    answer = client.get("/v1/evaluation-jobs?status=polling", headers=headers)
    [job] = document.require(answer, "GET", "/v1/evaluation-jobs")["jobs"]
    assert (job["id"], job["evaluator_job_id"], job["trigger"]) == (job_id, "theirs", "manual")
    assert job["poll_deadline_at"] > job["next_attempt_at"] > job["enqueued_at"]
    bench.run_later()
    answer = client.get("/v1/evaluations", headers=headers)
    [result] = document.require(answer, "GET", "/v1/evaluations")["evaluations"]
    assert result["evaluation_id"] == result["id"] == job_id
    assert (result["status"], result["attempt_count"]) == ("done", 1)
    assert result["completed_at"] == result["created_at"]
    answer = client.get("/v1/evaluation-jobs", headers=headers)
    assert document.require(answer, "GET", "/v1/evaluation-jobs") == {"jobs": []}
