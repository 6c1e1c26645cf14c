"""Hostile requests: a clear 4xx or a counted skip, in bounded memory, while others work."""

import gzip
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

import pytest

from devstack.up.deployment import Deployment
from tests.flows.api import Api, eventually
from tests.flows.hostile import (
    ARRAY,
    BAD_LINES,
    GOOD_LINES,
    IDS,
    MIB,
    NDJSON,
    bombs,
    event,
    log_lines,
    web_memory,
)
from tests.support.deployment import running_deployment
from tests.support.evaluator import running_evaluator
from tests.support.rawhttp import exchange, head

pytestmark = pytest.mark.flow


@pytest.fixture(scope="module")
def sturdy() -> Iterator[Deployment]:
    """One deployment for all tests here, which none of them may impair."""
    with (
        running_evaluator() as evaluator,
        running_deployment(evaluator, LOG_FORMAT="json") as running,
    ):
        yield running


@pytest.fixture(scope="module")
def api(sturdy: Deployment) -> Api:
    """A client with the admin key."""
    return Api(int(sturdy.environ["PORT"]), sturdy.admin_key)


def post(api: Api, body: bytes, **headers: str) -> tuple[int, dict[str, Any]]:
    status, answer = api.request("POST", "/events", body, **headers)
    return status, json.loads(answer)


@pytest.mark.parametrize("as_array", [False, True])
def test_every_bad_event_is_reported_and_loses_no_good_one(api: Api, as_array: bool) -> None:
    lines = [line for bad, _ in BAD_LINES.values() for line in (bad, event("good"))]
    if as_array:
        # An array with half an object has no clear end.
        lines.remove(BAD_LINES["half an object"][0])
        body, headers = b"[" + b",".join(lines) + b"]", ARRAY
    else:
        body, headers = b"\n".join(lines), NDJSON
    status, answer = post(api, body, **headers)
    errors = {error["line"]: error["error"] for error in answer["errors"]}
    expected = {
        number: reason
        for number, line in enumerate(lines, 1)
        for bad, reason in BAD_LINES.values()
        if line == bad
    }
    assert (status, answer["accepted"]) == (202, len(BAD_LINES))
    assert answer["skipped"] == len(expected) == len(errors)
    assert {n: errors[n][: len(reason)] for n, reason in expected.items()} == expected


def test_odd_values_are_kept_as_sent(api: Api) -> None:
    lines = [line.replace(b'"hostile"', b'"odd"') for line in GOOD_LINES.values()]
    status, answer = post(api, b"\n".join(lines), **NDJSON)
    assert (status, answer["accepted"], answer["skipped"]) == (202, len(lines), 0)
    path = "/sessions/odd/export"
    eventually(60, "export", lambda: api.request("GET", path)[1].count(b"\n") == len(lines))
    exported = api.request("GET", path)[1].splitlines()
    for line, kept in zip(lines, exported, strict=True):
        assert kept.endswith(b'"payload":' + line + b"}")


def test_two_hundred_months_in_one_batch(api: Api) -> None:
    moments = [f"{2005 + n // 12}-{1 + n % 12:02}-01T00:00:00.000000Z" for n in range(200)]
    status, answer = post(api, b"\n".join(event("months", timestamp=m) for m in moments), **NDJSON)
    assert (status, answer["accepted"]) == (202, 200)
    eventually(60, "rows", lambda: len(list(api.rows("events", session_id="months"))) == 200)
    rows = api.rows("events", session_id="months", order="asc", limit=7)
    assert [row["ts"] for row in rows] == moments


def test_any_id_can_be_filtered_by_and_exported(api: Api) -> None:
    body = b"\n".join(event(name, agent_id=name, n=n) for n, name in enumerate(IDS))
    assert post(api, body, **NDJSON)[1]["accepted"] == len(IDS)
    # A session may be visible a moment after its events.
    first = IDS[0]
    eventually(60, "stored", lambda: api.get("/events", session_id=first)["events"])
    eventually(60, "session", lambda: api.get("/sessions", session_id=first)["sessions"])
    for name in IDS:
        escaped = name.replace(",", "\\,")
        for filters in ({"session_id": escaped}, {"agent_id": escaped}):
            for resource in ("events", "sessions"):
                assert [row["session_id"] for row in api.rows(resource, **filters)] == [name]
        assert [line["payload"]["session_id"] for line in api.export(name)] == [name]


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"),
    [
        (
            gzip.compress(event())[:-9],
            {**NDJSON, "Content_Encoding": "gzip"},
            400,
            "truncated_body",
        ),
        (event(), {**NDJSON, "Content_Encoding": "gzip"}, 400, "bad_encoding"),
        (event(), {**NDJSON, "Content_Encoding": "br"}, 415, "unsupported_encoding"),
        (event(), {"Content_Type": "text/plain"}, 415, "unsupported_content_type"),
        (event(), {}, 415, "unsupported_content_type"),
        (b"{", ARRAY, 400, "bad_json"),
        (b"5", ARRAY, 422, "invalid"),
        (bytes(17 * MIB), NDJSON, 413, "too_large"),
    ],
)
def test_a_body_that_is_not_what_it_should_be(
    api: Api, body: bytes, headers: dict[str, str], status: int, code: str
) -> None:
    answer = post(api, body, **headers)
    assert (answer[0], answer[1]["code"]) == (status, code)


@pytest.mark.parametrize("headers", [NDJSON, ARRAY])
def test_an_empty_body_is_an_empty_batch(api: Api, headers: dict[str, str]) -> None:
    assert post(api, b"", **headers) == (202, {"accepted": 0, "skipped": 0, "errors": []})


def test_bombs_cost_bounded_memory_and_delay_no_other_client(api: Api, sturdy: Deployment) -> None:
    """Twice eight bombs at once. None may take the gigabytes that it unpacks to."""
    before = web_memory(sturdy)
    found = list(bombs())
    with ThreadPoolExecutor(16) as pool:
        answers = [
            pool.submit(api.request, "POST", "/events", body, **headers)
            for _, body, headers, _ in found * 2
        ]
        answered_meanwhile = 0
        peak = before
        while not all(answer.done() for answer in answers):
            api.get("/health")
            # An answer that had to wait for the bombs would come after the last of them.
            answered_meanwhile += not all(answer.done() for answer in answers)
            peak = max(peak, web_memory(sturdy))
            time.sleep(0.05)
    statuses = [answer.result()[0] for answer in answers]
    assert statuses == [status for _, _, _, status in found * 2]
    assert answered_meanwhile
    # Two processes, eight batches each, 128 MiB unpacked: no more than the settings allow.
    assert peak - before < 2 * 8 * 128 * MIB


def test_deep_json_on_other_routes(api: Api) -> None:
    for deep in (b"[" * 100_000, b'{"a":' * 100_000, b'{"name":' + b"[" * 100_000):
        status, answer = api.request("POST", "/keys", deep, **ARRAY)
        assert (status, json.loads(answer)["code"]) == (400, "malformed_json")


@pytest.mark.parametrize(
    ("target", "status", "field"),
    [
        ("/v1/events?limit=" + "9" * 4000, 200, None),
        ("/v1/events?limit=-1", 422, "limit"),
        ("/v1/events?limit=1e3", 422, "limit"),
        ("/v1/events?cursor=%00", 422, "cursor"),
        ("/v1/events?cursor=kwEC_w", 422, "cursor"),
        ("/v1/sessions?cursor=kwECAw", 422, "cursor"),
        ("/v1/evaluations?cursor=kwECAw", 422, "cursor"),
        ("/v1/events?ts_from=0001-01-01T00:00:00%2B14:00", 422, "ts_from"),
        ("/v1/events?ts_to=9999-12-31T23:59:59Z&limit=1", 200, None),
        ("/v1/events?session_id=a%00b&search=%00&model=%ED%A0%80", 200, None),
        ("/v1/sessions?session_id=%00&environment=%27%5C&score_filters=%00:1..2", 200, None),
        ("/v1/sessions?score_filters=a:1e999..", 422, "score_filters"),
        ("/v1/evaluation-jobs?status=%00", 422, "status"),
        ("/v1/sessions/%00/export", 404, None),
        ("/v1/sessions/a/b/export", 404, None),
        ("/v1/events?session_id=" + ",".join(map(str, range(10_000))), 414, None),
        ("/v1/events?search=" + "x" * 300_000, 414, None),
    ],
)
def test_absurd_parameters(api: Api, target: str, status: int, field: str | None) -> None:
    answer = exchange(api.port, head("GET", target, key=api.key))
    assert answer.status == status
    if status != 200:
        assert answer.json().keys() >= {"error", "code", "request_id"}
        assert list(answer.json().get("fields", [])) == ([field] if field else [])


@pytest.mark.parametrize("key_id", ["%00", "..", "a%2Fb", "%ED%A0%80", quote("😀" * 64)])
def test_null_bytes_and_worse_for_postgresql(api: Api, key_id: str) -> None:
    for action in (f"keys/{key_id}/disable", f"sessions/{key_id}x/re-evaluate"):
        status, answer = api.request("POST", f"/{action}")
        assert status == 404
        assert json.loads(answer)["code"] in ("not_found", "route_not_found")
    named = json.dumps({"name": "a\x00b", "key": "k" * 20, "permissions": ["\x00"]}).encode()
    status, answer = api.request("POST", "/keys", named, **ARRAY)
    assert status == 422
    assert b"name" in answer


def test_no_secret_is_logged_and_each_request_once(api: Api, sturdy: Deployment) -> None:
    marked = "0123456789abcdef" * 2
    api.request("POST", "/events", event("logged"), X_Request_Id=marked, **NDJSON)
    # A request is logged after its last byte is sent, and the insert names it a little later.
    for program, logged in (("web", "request"), ("worker", "events_stored")):
        eventually(60, logged, lambda name=program: events_with(sturdy, name, marked))
        assert events_with(sturdy, program, marked) == [logged]
    secrets = [sturdy.environ[name] for name in ("ADMIN_KEY", "AGENT_API_KEY")]
    for program in ("web", "worker", "clock"):
        lines = log_lines(sturdy, program)
        assert all(json.loads(line)["process"].startswith(program) for line in lines)
        assert not [line for line in lines for secret in secrets if secret in line]
    assert not [line for line in log_lines(sturdy, "web") if "crashed" in line]


def events_with(sturdy: Deployment, program: str, request_id: str) -> list[str]:
    """Returns the event names of the log lines of a request."""
    lines = [line for line in log_lines(sturdy, program) if request_id in line]
    return [json.loads(line)["event"] for line in lines]
