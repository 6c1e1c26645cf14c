"""Receipts over HTTP: counts, bad lines, filters, pages, and organizations apart."""

import gzip
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from flask.testing import FlaskClient

from devstack.ports import free_port
from shared.foundation.core.clock import format_ts, now
from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest.drain import Drain
from shared.intake.ingest.rules import IngestRules, IngestRulesCache
from tests.support.app import Headers, new_key
from tests.support.otlp import make_span, metrics, traces
from tests.support.runtime import connected, make_org
from web.app import create_app

Key = Callable[..., Headers]

NEWEST = "2026-11-01T08:00:01.000000Z"


def event(**fields: object) -> bytes:
    return json.dumps(
        {"session_id": "s", "timestamp": "2026-11-01T08:00:00Z", "type": "note", **fields}
    ).encode()


def send(client: FlaskClient, headers: Headers, *lines: bytes, **more: str) -> None:
    answer = client.post(
        "/v1/events",
        data=b"\n".join(lines),
        headers={**headers, "User-Agent": "sender/1", **more},
        content_type="application/x-ndjson",
    )
    assert answer.status_code == 202


def listed(client: FlaskClient, headers: Headers, query: str = "") -> list[dict[str, Any]]:
    answer = client.get(f"/v1/receipts{query}", headers=headers)
    assert answer.status_code == 200, answer.json
    return list(answer.get_json()["receipts"])


def test_a_request_is_counted_with_its_sender(client: FlaskClient, key: Key) -> None:
    headers = key("events:add", "events:read", "keys:read")
    began = now()
    send(client, headers, event(n=1), event(n=2, timestamp=NEWEST), b"{}", b"{}", b"no")
    [row] = listed(client, headers)
    [me] = client.get("/v1/keys", headers=headers).get_json()
    for name in ("first_at", "last_at"):
        assert format_ts(began) <= row.pop(name) <= format_ts(now())
    assert row == {
        "bucket_start": None,
        "source": "events",
        "key_id": me["id"],
        "key_name": me["name"],
        "sender": "sender/1",
        "machine_id": None,
        "service": None,
        "requests": 1,
        "accepted": 2,
        "duplicate": 0,
        "skipped": 3,
        "not_stored": 0,
        "dead_lettered": 0,
        "warnings": 0,
        "refused": 0,
        "reasons": [
            {"reason": "session_id is missing", "count": 2},
            {"reason": "is not JSON", "count": 1},
        ],
        "lag_ms": {"p50": None, "max": None},
        "newest_event_at": NEWEST,
    }


def test_a_fault_of_an_accepted_event_is_counted_with_its_reason(
    client: FlaskClient, key: Key
) -> None:
    headers = key("events:add", "events:read")
    send(client, headers, event(type="tool_reslt"), event(type="tool_result"))
    [row] = listed(client, headers)
    assert (row["accepted"], row["skipped"], row["warnings"]) == (2, 0, 1)
    assert row["reasons"] == [{"reason": "type is not a known type", "count": 1}]


def test_the_same_body_again_is_a_duplicate_however_it_is_packed(
    client: FlaskClient, key: Key, runtime: Runtime
) -> None:
    headers = key("events:add", "events:read")
    send(client, headers, event(n=1), event(n=2))
    listed(client, headers)
    packed = gzip.compress(event(n=1) + b"\n" + event(n=2))
    send(client, headers, packed, **{"Content-Encoding": "gzip"})
    send(client, headers, event(n=1))
    [row] = listed(client, headers)
    assert (row["requests"], row["accepted"], row["duplicate"]) == (3, 5, 2)
    other = new_key(runtime, make_org(runtime))
    send(client, other, event(n=1), event(n=2))
    [theirs] = listed(client, other)
    assert (theirs["accepted"], theirs["duplicate"]) == (2, 0)


def test_the_lag_counts_when_a_batch_is_stored(
    client: FlaskClient, key: Key, runtime: Runtime
) -> None:
    headers = key("events:add", "events:read")
    send(client, headers, event())
    Drain(runtime, "receipts", IngestRulesCache(runtime)).run()
    [row] = listed(client, headers)
    lag = row["lag_ms"]
    assert 0 <= lag["p50"] <= lag["max"] < 600_000
    assert row["requests"] == 1


@pytest.mark.parametrize("header", ["X-Watchpost-Machine-Id", "X-Failproofai-Machine-Id"])
def test_senders_and_machines_have_their_own_rows(
    client: FlaskClient, key: Key, header: str
) -> None:
    headers = key("events:add", "events:read")
    send(client, headers, event(), **{header: "machine-1"})
    send(client, headers, event(), **{"User-Agent": "x" * 300})
    send(client, headers, event(), **{header: "machine-1"})
    rows = listed(client, headers)
    assert [(row["sender"], row["machine_id"], row["requests"]) for row in rows] == [
        ("sender/1", "machine-1", 2),
        ("x" * 128, None, 1),
    ]


def test_a_request_without_an_event_is_counted(client: FlaskClient, key: Key) -> None:
    headers = key("events:add", "events:read")
    send(client, headers)
    send(client, headers, b"[]")
    [row] = listed(client, headers)
    assert (row["requests"], row["accepted"], row["skipped"]) == (2, 0, 1)


def test_a_refused_request_is_counted(client: FlaskClient, key: Key, runtime: Runtime) -> None:
    headers = key("events:add", "events:read")
    full = msgspec.structs.replace(runtime.settings, ingest_backlog_bytes=1024)
    send(client, headers, event(text="x" * 5000))
    with connected(full) as small:
        answer = (
            create_app(small)
            .test_client()
            .post(
                "/v1/events",
                data=event(),
                headers={**headers, "User-Agent": "sender/1"},
                content_type="application/x-ndjson",
            )
        )
    assert answer.status_code == 503
    [row] = listed(client, headers)
    assert (row["requests"], row["accepted"], row["refused"]) == (2, 1, 1)
    assert row["reasons"] == [{"reason": "the ingest backlog is full", "count": 1}]


def test_filters_and_ranges(client: FlaskClient, key: Key) -> None:
    headers, other = key(), key("events:add", "keys:read")
    send(client, headers, event(n=1))
    send(client, other, event(n=2))
    both = listed(client, headers)
    assert len(both) == 2
    for row in both:
        assert listed(client, headers, f"?key_id={row['key_id']}") == [row]
    assert listed(client, headers, "?source=events") == both
    assert listed(client, headers, "?source=otlp_http") == []
    assert listed(client, headers, "?service=x") == []
    assert listed(client, headers, "?service=x%00") == []
    moment = format_ts(now() + timedelta(seconds=1))
    assert listed(client, headers, f"?ts_from={moment}") == []
    assert listed(client, headers, f"?ts_to={moment}") == both
    assert listed(client, headers, f"?ts_to={format_ts(now() - timedelta(hours=1))}") == []


@pytest.mark.parametrize("bucket", ["hour", "day"])
def test_buckets(client: FlaskClient, key: Key, bucket: str) -> None:
    headers = key()
    send(client, headers, event())
    [whole] = listed(client, headers)
    [row] = listed(client, headers, f"?bucket={bucket}")
    start = row.pop("bucket_start")
    assert whole.pop("bucket_start") is None
    assert row == whole
    assert start.endswith(":00:00.000000Z" if bucket == "hour" else "T00:00:00.000000Z")
    assert start <= row["first_at"]


def test_pages_join_without_gaps(client: FlaskClient, key: Key) -> None:
    headers = key()
    for number in range(7):
        send(client, headers, event(), **{"User-Agent": f"sender/{number}"})
    cursor: str | None = ""
    seen: list[Any] = []
    while cursor is not None:
        page = client.get(f"/v1/receipts?limit=3&cursor={cursor}", headers=headers).get_json()
        seen += [row["sender"] for row in page["receipts"]]
        cursor = page["next_cursor"]
    assert seen == [f"sender/{number}" for number in range(6, -1, -1)]


def test_bad_lines_are_shown_newest_first_and_redacted(client: FlaskClient, key: Key) -> None:
    headers = key()
    client.put("/v1/settings/redaction.payload_keys", json={"value": ["token"]}, headers=headers)
    long = b'{"session_id": "' + b"y" * 500 + b'"}'
    lines = (b'{"token": "hush", "a": 1}', b"{'token': 'hush'}", b"\xff", event(), long)
    send(client, headers, *lines)
    skipped = client.get("/v1/receipts/skipped", headers=headers).get_json()["skipped"]
    assert [(row["where"], row["reason"], row["excerpt"]) for row in skipped] == [
        ("5", "session_id must have at most 256 characters", long[:200].decode()),
        ("3", "is not valid UTF-8", "\N{REPLACEMENT CHARACTER}"),
        ("2", "is not JSON", "[redacted]"),
        ("1", "session_id is missing", '{"token": "[redacted]", "a": 1}'),
    ]
    assert {(row["source"], row["sender"], row["service"]) for row in skipped} == {
        ("events", "sender/1", None)
    }


def test_the_last_thousand_bad_lines_in_pages(client: FlaskClient, key: Key) -> None:
    headers = key()
    send(client, headers, *[b"[]"] * 30)
    send(client, headers, *[b"{}"] * 990)
    cursor: str | None = ""
    seen: list[Any] = []
    while cursor is not None:
        path = f"/v1/receipts/skipped?limit=200&cursor={cursor}"
        page = client.get(path, headers=headers).get_json()
        seen += [(row["reason"], row["where"]) for row in page["skipped"]]
        cursor = page["next_cursor"]
    newest = [("session_id is missing", str(number)) for number in range(990, 0, -1)]
    assert seen == newest + [("is not an object", str(number)) for number in range(30, 20, -1)]


def test_bad_lines_are_filtered(client: FlaskClient, key: Key) -> None:
    headers, other = key(), key("events:add")
    send(client, headers, b"1")
    send(client, other, b"2")
    rows = client.get("/v1/receipts/skipped", headers=headers).get_json()["skipped"]
    for row in rows:
        found = client.get(f"/v1/receipts/skipped?key_id={row['key_id']}", headers=headers)
        assert found.get_json()["skipped"] == [row]
    assert len(rows) == 2
    none = client.get("/v1/receipts/skipped?source=import", headers=headers)
    assert none.get_json()["skipped"] == []


def test_organizations_see_their_own(client: FlaskClient, key: Key, runtime: Runtime) -> None:
    send(client, key(), event(), b"{}")
    stranger = new_key(runtime, make_org(runtime))
    assert listed(client, stranger) == []
    answer = client.get("/v1/receipts/skipped", headers=stranger)
    assert answer.get_json() == {"skipped": [], "next_cursor": None}


@pytest.mark.parametrize("permission", ["events:read", "settings:read"])
def test_either_permission_lists_receipts(client: FlaskClient, key: Key, permission: str) -> None:
    send(client, key(), event())
    assert len(listed(client, key(permission))) == 1


@pytest.mark.parametrize(
    "path",
    [
        "/v1/receipts?cursor=x",
        "/v1/receipts?bucket=week",
        "/v1/receipts?source=mail",
        "/v1/receipts?key_id=1",
        "/v1/receipts?ts_from=yesterday",
        "/v1/receipts/skipped?cursor=x",
        "/v1/receipts/skipped?source=mail",
    ],
)
def test_bad_parameters_are_named(client: FlaskClient, key: Key, path: str) -> None:
    answer = client.get(path, headers=key())
    name = path.partition("?")[2].partition("=")[0]
    assert (answer.status_code, list(answer.get_json()["fields"])) == (422, [name])


def test_receipts_are_listed_while_redis_is_away(
    client: FlaskClient, key: Key, runtime: Runtime
) -> None:
    headers = key()
    send(client, headers, event())
    before = listed(client, headers)
    away = f"redis://127.0.0.1:{free_port()}/0"
    with connected(msgspec.structs.replace(runtime.settings, redis_url=away)) as broken:
        alone = create_app(broken).test_client()
        assert listed(alone, headers) == before
        assert alone.get("/v1/receipts/skipped", headers=headers).status_code == 503


def test_a_dead_letter_is_counted(client: FlaskClient, key: Key, runtime: Runtime) -> None:
    def stumble(model: str) -> int | None:
        if model == "odd":
            raise ZeroDivisionError("odd")
        return None

    headers = key()
    lines = [event(type="model_response", model=model) for model in ("odd", "even")]
    send(client, headers, *lines)
    Drain(runtime, "receipts", lambda org_ids: dict.fromkeys(org_ids, IngestRules(stumble))).run()
    [row] = listed(client, headers)
    assert (row["accepted"], row["dead_lettered"]) == (2, 1)
    assert row["reasons"] == [{"reason": "ZeroDivisionError: odd", "count": 1}]


def import_file(client: FlaskClient, headers: Headers, body: bytes, query: str = "") -> Any:
    return client.post(
        f"/v1/events/import{query}",
        data=body,
        headers={**headers, "User-Agent": "sender/1"},
        content_type="application/octet-stream",
    ).get_json()


def test_an_import_counts_what_was_new(client: FlaskClient, key: Key) -> None:
    headers = key()
    lines = [event(n=1), event(n=2, timestamp=NEWEST), b"{}", b""]
    dry = import_file(client, headers, b"\n".join(lines), "?dry_run=true&format=agenteye")
    assert (dry["accepted"], listed(client, headers)) == (2, [])
    for _ in range(2):
        import_file(client, headers, b"\n".join(lines), "?format=agenteye")
    [row] = listed(client, headers)
    counts = {name: row[name] for name in ("requests", "accepted", "duplicate", "skipped")}
    assert counts == {"requests": 2, "accepted": 2, "duplicate": 2, "skipped": 2}
    assert (row["source"], row["newest_event_at"]) == ("import", NEWEST)
    assert row["reasons"] == [{"reason": "session_id is missing", "count": 2}]
    [first, _] = client.get("/v1/receipts/skipped", headers=headers).get_json()["skipped"]
    assert (first["where"], first["excerpt"], first["source"]) == ("3", "{}", "import")


def test_an_export_is_counted_by_service(client: FlaskClient, key: Key) -> None:
    headers = key()
    bad = make_span(3)
    bad.span_id = b"short"
    body = traces(make_span(1), make_span(2), bad).SerializeToString()
    more = {**headers, "User-Agent": "exporter/1", "X-Watchpost-Machine-Id": "m"}
    for _ in range(2):
        answer = client.post(
            "/v1/traces", data=body, headers=more, content_type="application/x-protobuf"
        )
        assert answer.status_code == 200
    [row] = listed(client, headers)
    names = ("source", "sender", "machine_id", "service")
    assert [row[name] for name in names] == ["otlp_http", "exporter/1", "m", "bot"]
    counts = {name: row[name] for name in ("requests", "accepted", "duplicate", "skipped")}
    assert counts == {"requests": 2, "accepted": 4, "duplicate": 2, "skipped": 2}
    assert row["reasons"] == [{"reason": "span id is not 8 bytes", "count": 2}]
    first, _ = client.get("/v1/receipts/skipped", headers=headers).get_json()["skipped"]
    assert (first["service"], first["reason"]) == ("bot", "span id is not 8 bytes")


def test_metrics_are_not_stored(client: FlaskClient, key: Key) -> None:
    headers = key()
    body = metrics().SerializeToString()
    form = "application/x-protobuf"
    answer = client.post("/v1/metrics", data=body, headers=headers, content_type=form)
    assert answer.status_code == 200
    [row] = listed(client, headers)
    assert (row["requests"], row["accepted"]) == (1, 0)
    assert row["not_stored"] > 0
    assert row["reasons"] == [{"reason": "metrics", "count": row["not_stored"]}]
