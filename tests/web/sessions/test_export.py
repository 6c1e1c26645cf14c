"""GET /v1/sessions/{id}/export."""

import json
from collections.abc import Callable, Iterator
from urllib.parse import quote, unquote

import pytest
from flask.testing import FlaskClient

from shared.foundation.core.errors import Unavailable
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import Postgres
from shared.reading.sessions.evaluation_request import build
from tests.support.app import Headers
from tests.support.events import event, store_events
from tests.support.runtime import Org
from web.download import attachment, streamed

Key = Callable[..., Headers]


def export_path(session_id: str) -> str:
    return f"/v1/sessions/{quote(session_id, safe='')}/export"


@pytest.mark.parametrize(
    "name",
    ["plain", "a/b", "/", "//a", "a/export", 'say "hi"', "größe-名", "a,b", "50%", "a\\b", "?#"],
)
def test_lines_to_save_under_a_name(
    client: FlaskClient, runtime: Runtime, org: Org, key: Key, name: str
) -> None:
    lines = [event(name, f"10:00:0{n}", text="zwei\nZeilen") for n in range(3)]
    stored = store_events(runtime.clickhouse, org.id, lines)
    answer = client.get(export_path(name), headers=key("events:read"))
    assert answer.status_code == 200
    assert answer.content_type == "application/x-ndjson"
    assert [json.loads(line) for line in answer.data.splitlines()] == [
        {
            "id": item.event_id,
            "ts": f"2026-11-02T10:00:0{n}.000000Z",
            "event_type": "tool_use",
            "payload": json.loads(item.line),
        }
        for n, item in enumerate(stored)
    ]
    assert answer.headers["Content-Disposition"] == attachment(f"session-{name}.jsonl")


@pytest.mark.parametrize(
    ("query", "accept", "is_object"),
    [
        ("", None, False),
        ("", "*/*", False),
        ("", "application/x-ndjson", False),
        ("", "text/html", False),
        ("", "application/json", True),
        ("", "application/json, text/plain, */*", True),
        ("?format=json", "application/x-ndjson", True),
        ("?format=jsonl", "application/json", False),
    ],
)
def test_the_object_is_what_an_evaluator_gets(
    client: FlaskClient,
    runtime: Runtime,
    org: Org,
    key: Key,
    query: str,
    accept: str | None,
    is_object: bool,
) -> None:
    odd = b'{"session_id":"s", "timestamp":"2026-11-02T10:00:00Z","type":"t",\n "n":1.50}'
    store_events(runtime.clickhouse, org.id, [odd, event("s", "10:00:01", "agent_end")])
    headers = key("events:read") | ({} if accept is None else {"Accept": accept})
    answer = client.get(f"/v1/sessions/s/export{query}", headers=headers)
    assert answer.content_type == ("application/json" if is_object else "application/x-ndjson")
    request = build(runtime.clickhouse, org.id, "s")
    assert (answer.data == request) is is_object


def test_a_long_session_is_sent_in_pieces(
    client: FlaskClient, runtime: Runtime, org: Org, key: Key
) -> None:
    text = "x" * 3000
    lines = [event("s", f"10:{n // 60:02}:{n % 60:02}", text=text) for n in range(200)]
    stored = store_events(runtime.clickhouse, org.id, lines)
    answer = client.get("/v1/sessions/s/export", headers=key("events:read"), buffered=False)
    chunks = list(answer.iter_encoded())
    assert len(chunks) > 5
    found = [json.loads(line)["id"] for line in b"".join(chunks).splitlines()]
    assert found == [item.event_id for item in stored]


def test_missing_and_foreign_resources_are_not_found(
    client: FlaskClient, runtime: Runtime, key: Key
) -> None:
    store_events(runtime.clickhouse, "another-organization", [event("theirs", "10:00:00")])
    for query in ("", "?format=json"):
        answer = client.get(f"/v1/sessions/theirs/export{query}", headers=key("events:read"))
        assert (answer.status_code, answer.json["code"]) == (404, "not_found")  # type: ignore[index]


def test_an_export_needs_its_permission_and_a_known_format(client: FlaskClient, key: Key) -> None:
    answer = client.get("/v1/sessions/s/export", headers=key("evaluations:read"))
    assert answer.status_code == 403
    answer = client.get("/v1/sessions/s/export?format=csv", headers=key("events:read"))
    assert answer.status_code == 422
    assert list(answer.json["fields"]) == ["format"]  # type: ignore[index]


def failing_after(count: int) -> Iterator[bytes]:
    yield from [b"x" * 1024] * count
    raise Unavailable("ClickHouse is unavailable")


def test_an_early_failure_comes_before_the_first_byte() -> None:
    with pytest.raises(Unavailable):
        streamed(failing_after(3), "text/plain")


def test_a_late_failure_never_looks_complete() -> None:
    body = streamed(failing_after(100), "text/plain").iter_encoded()
    assert len(next(body)) == 64 * 1024
    with pytest.raises(Unavailable):
        next(body)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("session-a.jsonl", "session-a.jsonl"),
        ("a b.jsonl", "a b.jsonl"),
        ("a/b\\c", "a_b_c"),
        ('"; x="', "_; x=_"),
        ("50%41", "50_41"),
        ("größe", "gr__e"),
    ],
)
def test_a_file_name_cannot_break_out_of_its_header(name: str, plain: str) -> None:
    header = attachment(name)
    quoted, _, extended = header.partition("; filename*=UTF-8''")
    assert quoted == f'attachment; filename="{plain}"'
    assert header.isascii()
    assert unquote(extended) == ("" if plain == name.replace("/", "_").replace("\\", "_") else name)


def test_without_postgresql_no_export_begins(
    client: FlaskClient,
    runtime: Runtime,
    web_runtime: Runtime,
    org: Org,
    key: Key,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its line in the audit log comes first, although all rows are in ClickHouse."""
    store_events(runtime.clickhouse, org.id, [event("s", "10:00:00")])
    headers = key()
    assert client.get("/v1/sessions/s/export", headers=headers).status_code == 200
    nowhere = Postgres("postgresql://watchpost@127.0.0.1:1/watchpost", pool_size=1)
    monkeypatch.setattr(web_runtime.postgres, "transaction", nowhere.transaction)
    assert client.get("/v1/events", headers=headers).status_code == 200
    answer = client.get("/v1/sessions/s/export", headers=headers)
    assert (answer.status_code, answer.get_json()["code"]) == (503, "postgres_unavailable")
