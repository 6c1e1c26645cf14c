"""POST /events with redacted keys: no store, answer or log holds a value."""

import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from structlog.testing import capture_logs

from shared.foundation.core.clock import format_ts, now
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.waiting import event_stream
from shared.intake.ingest.drain import Drain
from shared.intake.ingest.rules import IngestRulesCache
from tests.support.app import Headers
from tests.support.runtime import Org, make_org
from tests.support.streams import waiting_payloads

Post = Callable[..., Any]
Listed = Callable[..., list[dict[str, Any]]]

HUSH, NUMBER = "hush-hush-hush", 3_141_592_653


@pytest.fixture
def redact(client: FlaskClient, admin: Headers) -> Callable[..., None]:
    """`redact("password")` sets the redacted keys of the test's organization."""

    def put(*names: str) -> None:
        path = "/v1/settings/redaction.payload_keys"
        assert client.put(path, json={"value": names}, headers=admin).status_code == 200

    return put


def event(**fields: object) -> dict[str, object]:
    return {"session_id": "s", "timestamp": format_ts(now()), "type": "tool_result", **fields}


def send(post: Post, *events: object) -> None:
    answer = post(json.dumps(events).encode(), "application/json")
    assert (answer.status_code, answer.json["accepted"]) == (202, len(events))


def test_a_secret_is_nowhere(
    client: FlaskClient,
    runtime: Runtime,
    org: Org,
    key: Callable[..., Headers],
    post: Post,
    redact: Callable[..., None],
) -> None:
    redact("Password", "tool_name", "duration_ms", "output")
    events = [
        event(password=HUSH, tool_name=HUSH, duration_ms=NUMBER, input={"a": [{"password": HUSH}]}),
        event(input=json.dumps({"PassWord": {"x": HUSH}}), output={"text": HUSH}, n=1),
        event(type="error", message="kept", password=[HUSH]),
    ]
    with capture_logs() as logs:
        send(post, *events)
        payloads = waiting_payloads(runtime, org)
        Drain(runtime, "tests", IngestRulesCache(runtime)).run()
    assert len(payloads) == 3
    rows = runtime.clickhouse.rows(
        "SELECT * FROM events FINAL WHERE org_id = {org_id:String}", {"org_id": org.id}
    )
    headers = key()
    answers = [
        client.get(f"/v1/{path}", headers=headers, buffered=True).get_data(as_text=True)
        for path in (
            "events", "events/summary", "sessions", "sessions/s/export", "events/tool_names"
        )
    ]  # fmt: skip
    assert "kept" in answers[0]
    for said in (repr(payloads), repr(rows), repr(logs), *answers):
        assert HUSH not in said
        assert str(NUMBER) not in said
    found = client.get(f"/v1/events?search={HUSH}", headers=headers).get_json()
    assert found["events"] == []
    found = client.get("/v1/events?search=[redacted]", headers=headers).get_json()
    assert len(found["events"]) == 3
    columns = runtime.clickhouse.rows(
        "SELECT tool_name, duration_ms, payload FROM events FINAL"
        " WHERE org_id = {org_id:String} ORDER BY arrival",
        {"org_id": org.id},
    )
    assert [row[:2] for row in columns] == [("[redacted]", None), (None, None), (None, None)]
    first = {**events[0], "password": "[redacted]", "tool_name": "[redacted]"}
    first |= {"duration_ms": "[redacted]", "input": {"a": [{"password": "[redacted]"}]}}
    assert json.loads(columns[0][2]) == first


def test_a_packed_body_is_not_kept_with_its_secrets(
    runtime: Runtime, org: Org, post: Post, redact: Callable[..., None]
) -> None:
    """Without redacted keys, such a body is kept as it was sent."""
    body = gzip.compress(
        b"\n".join(json.dumps(event(password=HUSH, n=n)).encode() for n in range(99))
    )
    kept = []
    for names in ((), ("password",)):
        redact(*names)
        assert post(body, Content_Encoding="gzip").status_code == 202
        entries: Any = runtime.redis.xrange(event_stream(org.id))
        kept.append(body in entries[-1][1][b"data"])
    assert kept == [True, False]
    assert HUSH not in repr(waiting_payloads(runtime, org)[99:])


def test_a_resent_event_stays_one_whatever_was_set_meanwhile(
    post: Post, redact: Callable[..., None], runtime: Runtime, listed: Listed
) -> None:
    once = event(password=HUSH)
    for names in ((), ("password",), ("other",)):
        redact(*names)
        send(post, once)
    Drain(runtime, "tests", IngestRulesCache(runtime)).run()
    [row] = listed()
    assert row["payload"] == once


def test_the_copy_that_came_first_stays_redacted(
    post: Post, redact: Callable[..., None], runtime: Runtime, listed: Listed
) -> None:
    once = event(password=HUSH)
    for names in (("password",), ()):
        redact(*names)
        send(post, once)
    Drain(runtime, "tests", IngestRulesCache(runtime)).run()
    [row] = listed()
    assert row["payload"] == {**once, "password": "[redacted]"}


def test_another_organization_keeps_what_it_sends(
    runtime: Runtime, post: Post, redact: Callable[..., None], client: FlaskClient, admin: Headers
) -> None:
    other = make_org(runtime)
    theirs = {**admin, "X-Service-Org": other.slug}
    redact("password")
    send(post, event(password=HUSH))
    assert client.post("/v1/events", json=[event(password=HUSH)], headers=theirs).status_code == 202
    Drain(runtime, "tests", IngestRulesCache(runtime)).run()
    [row] = client.get("/v1/events", headers=theirs).get_json()["events"]
    assert row["payload"]["password"] == HUSH


def test_a_field_that_every_event_has_is_refused_by_name(
    client: FlaskClient, admin: Headers
) -> None:
    answer = client.put(
        "/v1/settings/redaction.payload_keys", json=["password", "Agent_ID"], headers=admin
    )
    assert (answer.status_code, answer.get_json()["fields"]) == (
        422,
        {"value": ["must not contain agent_id"]},
    )
