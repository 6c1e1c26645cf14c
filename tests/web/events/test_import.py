"""POST /events/import: exact counts, whatever was imported, sent or is under way already."""

import gzip
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.foundation.core.clock import now_us
from shared.foundation.deployment.runtime import Runtime
from shared.intake.imports import existing, lock
from shared.intake.ingest.drain import Drain
from shared.intake.ingest.rules import IngestRulesCache
from tests.shared.intake.imports import test_otlp
from tests.support.app import Headers, new_key
from tests.support.runtime import Org, make_org
from tests.support.transcripts import lines_of

Import = Callable[..., Any]
OCTETS = "application/octet-stream"
UUID = "5b1f0c52-7a3e-4a57-9d0e-2f4c6a1e9b30"


def said(number: int, session: str = "s", **fields: object) -> dict[str, Any]:
    """Returns a line of a transcript."""
    return {
        "type": "user",
        "uuid": f"u{number}",
        "sessionId": session,
        "timestamp": f"2026-11-18T09:00:{number:02}Z",
        "message": {"role": "user", "content": f"words {number}"},
        **fields,
    }


TRANSCRIPT = lines_of(*(said(number) for number in range(4)))


def event(number: int, session: str = "s", **fields: object) -> dict[str, Any]:
    moment = f"2026-11-18T09:00:{number:02}Z"
    return {"session_id": session, "timestamp": moment, "type": "note", **fields}


@pytest.fixture
def send(client: FlaskClient, reader: Headers) -> Import:
    """Imports a file and returns the response."""

    def post(body: bytes, content_type: str | None = OCTETS, **query: object) -> Any:
        return client.post(
            "/v1/events/import",
            data=body,
            content_type=content_type,
            headers=reader,
            query_string=query,
        )

    return post


@pytest.fixture
def imported(send: Import) -> Callable[..., dict[str, Any]]:
    """Imports a file and returns the answer, which has to be 200."""

    def post(body: bytes, **query: object) -> dict[str, Any]:
        answer = send(body, **query)
        assert answer.status_code == 200, answer.json
        return dict(answer.json)

    return post


@pytest.fixture
def drain(runtime: Runtime) -> Callable[[], int]:
    """Stores what waits."""
    return lambda: Drain(runtime, "tests", IngestRulesCache(runtime)).run()


Imported = Callable[..., dict[str, Any]]
Store = Callable[[], int]
Listed = Callable[..., list[dict[str, Any]]]


def counts(answer: dict[str, Any]) -> tuple[int, int, int]:
    return answer["events"], answer["accepted"], answer["duplicate"]


def test_the_answer(imported: Imported, drain: Store, listed: Listed) -> None:
    body = TRANSCRIPT + b"nonsense\n" + lines_of({"type": "summary"}) + b'{"type":'
    answer = imported(body, path="/srv/notes/a.jsonl")
    assert answer == {
        "format": "claude",
        "dry_run": False,
        "lines": 7,
        "events": 5,
        "accepted": 5,
        "duplicate": 0,
        "skipped": 1,
        "ignored": 1,
        "held_back": 1,
        "errors": [{"line": 5, "error": "is not JSON"}],
        "sessions": [{"session_id": "s", "events": 5, "accepted": 5}],
        "session_count": 1,
        "skipped_sessions": [],
        "first_ts": "2026-11-18T09:00:00.000000Z",
        "last_ts": "2026-11-18T09:00:03.000000Z",
        "replaced": 0,
    }
    drain()
    rows = listed("order=asc")
    assert [row["event_type"] for row in rows] == ["agent_start", *["human_input"] * 4]
    assert {row["environment"] for row in rows} == {"upload"}
    assert rows[-1]["payload"]["source"] == {"format": "claude", "path": "notes/a.jsonl", "line": 4}


@pytest.mark.parametrize("stored", [False, True])
def test_the_same_file_again_adds_nothing(
    imported: Imported, drain: Store, listed: Listed, stored: bool
) -> None:
    """Whether the events wait in Redis or are in ClickHouse, and whatever the file is called."""
    assert counts(imported(TRANSCRIPT)) == (5, 5, 0)
    if stored:
        drain()
    for again in ({}, {"path": "b/c.jsonl"}, {"environment": "other"}):
        assert counts(imported(TRANSCRIPT, **again)) == (5, 0, 5)
    drain()
    assert len(listed()) == 5


@pytest.mark.parametrize("stored", [False, True])
def test_a_file_that_grew_adds_what_is_new(
    imported: Imported, drain: Store, listed: Listed, stored: bool
) -> None:
    lines = TRANSCRIPT.splitlines(keepends=True)
    total = 0
    for count in range(1, len(lines) + 1):
        answer = imported(b"".join(lines[:count]))
        total += answer["accepted"]
        assert answer["accepted"] == (2 if count == 1 else 1)
        if stored:
            drain()
    drain()
    assert total == len(listed()) == 5


def test_the_same_file_at_once_is_accepted_once(
    app: Any, reader: Headers, drain: Store, listed: Listed
) -> None:
    def post(_: int) -> tuple[int, int, int]:
        answer = app.test_client().post(
            "/v1/events/import", data=TRANSCRIPT, content_type=OCTETS, headers=reader
        )
        assert answer.status_code == 200, answer.json
        return counts(answer.json)

    with ThreadPoolExecutor(6) as pool:
        told = sorted(pool.map(post, range(12)))
    assert told == [(5, 0, 5)] * 11 + [(5, 5, 0)]
    drain()
    assert len(listed()) == 5


def test_a_line_twice_is_an_event_once(imported: Imported) -> None:
    line = lines_of(event(1))
    assert counts(imported(line * 3)) == (3, 1, 2)


def test_a_dry_run_tells_the_same_and_stores_nothing(
    imported: Imported, drain: Store, listed: Listed
) -> None:
    tried = imported(TRANSCRIPT, dry_run="true")
    assert tried["dry_run"] is True
    drain()
    assert listed() == []
    done = imported(TRANSCRIPT)
    assert {**tried, "dry_run": False} == done
    assert imported(TRANSCRIPT, dry_run="true")["accepted"] == 0


@pytest.mark.parametrize("stored", [False, True])
def test_a_session_from_elsewhere_is_left_alone(
    imported: Imported, post: Callable[..., Any], drain: Store, listed: Listed, stored: bool
) -> None:
    before = now_us() // 1000
    post(lines_of(event(1)))
    if stored:
        drain()
    body = TRANSCRIPT + lines_of(said(9, "other"))
    answer = imported(body)
    assert counts(answer) == (6, 1, 0)
    [skipped] = answer["skipped_sessions"]
    assert skipped["session_id"] == "s"
    assert answer["session_count"] == 2
    assert [one["accepted"] for one in answer["sessions"]] == [0, 1]
    # Before that moment nothing had arrived.
    assert counts(imported(body, existing_before=before)) == (6, 5, 1)
    drain()
    assert len(listed()) == 7


def test_another_file_of_the_format_is_not_from_elsewhere(imported: Imported, drain: Store) -> None:
    imported(TRANSCRIPT)
    drain()
    below = lines_of(said(1, isSidechain=True, agentId="e1"))
    answer = imported(below, path="subagents/agent-e1.jsonl")
    assert (counts(answer), answer["skipped_sessions"]) == ((2, 2, 0), [])


def test_an_import_of_another_format_is_from_elsewhere(imported: Imported, drain: Store) -> None:
    imported(TRANSCRIPT)
    drain()
    moment = "2026-11-18T09:00:00Z"
    meta = {"timestamp": moment, "type": "session_meta", "payload": {"id": "s"}}
    person = {
        "timestamp": moment,
        "type": "event_msg",
        "payload": {"type": "user_message", "message": "x"},
    }
    answer = imported(lines_of(meta, person))
    assert (answer["format"], counts(answer)) == ("codex", (2, 0, 0))


@pytest.mark.parametrize("keys", [["source"], ["format"], ["path", "response"]])
def test_redacted_values_are_never_stored(
    imported: Imported,
    drain: Store,
    listed: Listed,
    client: FlaskClient,
    admin: Headers,
    keys: list[str],
) -> None:
    setting = "/v1/settings/redaction.payload_keys"
    assert client.put(setting, json={"value": keys}, headers=admin).status_code == 200
    imported(TRANSCRIPT, path="a/secret.jsonl")
    drain()
    for row in listed():
        for key in keys:
            for holder in (row["payload"], row["payload"]["source"]):
                assert not isinstance(holder, dict) or holder.get(key) in (None, "[redacted]")
    # The rest of the file is still no session from elsewhere.
    assert counts(imported(TRANSCRIPT + lines_of(said(9)))) == (6, 1, 5)


def test_events_of_the_api_are_the_same_events(
    imported: Imported, post: Callable[..., Any], drain: Store, listed: Listed
) -> None:
    body = lines_of(event(1), event(2, environment="default"), event(3))
    post(body.splitlines(keepends=True)[0])
    answer = imported(body, format="failproofai")
    assert (answer["format"], counts(answer)) == ("agenteye", (3, 2, 1))
    assert answer["skipped_sessions"] == []
    drain()
    assert counts(imported(body)) == (3, 0, 3)
    rows = listed("order=asc")
    assert [row["environment"] for row in rows] == ["default", "default", "upload"]
    assert "source" not in rows[0]["payload"]


def test_parameters_name_the_dimensions_of_events_without_them(
    imported: Imported, drain: Store, listed: Listed
) -> None:
    body = TRANSCRIPT + lines_of(said(9, version="2"))
    most = {f"attr.{number}": "x" * 256 for number in range(31)}
    given = {
        "user_id": "zo\u00e9",
        "agent_version": "1",
        "tags": "a,b\\,c",
        "attr": "is no parameter",
    }
    answer = imported(body, **given, **most, **{"attr.a-Z_0.b:/c": "pro"})
    assert counts(answer) == (6, 6, 0)
    drain()
    payloads = [row["payload"] for row in listed("order=asc")]
    assert [payload["agent_version"] for payload in payloads] == ["1"] * 5 + ["2"]
    for payload in payloads:
        assert (payload["user_id"], payload["tags"]) == ("zo\u00e9", ["a", "b,c"])
        assert (len(payload["attributes"]), payload["attributes"]["a-Z_0.b:/c"]) == (32, "pro")
    # The ids do not depend on them.
    assert counts(imported(body)) == (6, 0, 6)


def test_gzip_is_known_by_its_first_bytes(imported: Imported) -> None:
    assert counts(imported(gzip.compress(TRANSCRIPT))) == (5, 5, 0)
    assert counts(imported(TRANSCRIPT)) == (5, 0, 5)


@pytest.mark.parametrize(
    ("body", "query", "status", "code", "field"),
    [
        (TRANSCRIPT, {"format": "word"}, 422, "invalid", "format"),
        (TRANSCRIPT, {"existing_before": "soon"}, 422, "invalid", "existing_before"),
        (TRANSCRIPT, {"existing_before": -1}, 422, "invalid", "existing_before"),
        (TRANSCRIPT, {"started_at": "2026-11-18T09:00:00"}, 422, "invalid", "started_at"),
        (TRANSCRIPT, {"environment": "a,b"}, 422, "invalid", "environment"),
        (TRANSCRIPT, {"environment": "a\nb"}, 422, "invalid", "environment"),
        (TRANSCRIPT, {"environment": "a" * 65}, 422, "invalid", "environment"),
        (TRANSCRIPT, {"dry_run": "perhaps"}, 422, "invalid", "dry_run"),
        (TRANSCRIPT, {"user_id": "a" * 257}, 422, "invalid", "user_id"),
        (TRANSCRIPT, {"user_id": "a\nb"}, 422, "invalid", "user_id"),
        (TRANSCRIPT, {"agent_version": "a" * 129}, 422, "invalid", "agent_version"),
        (TRANSCRIPT, {"tags": f"a,{'b' * 65}"}, 422, "invalid", "tags"),
        (TRANSCRIPT, {"tags": "a\x07"}, 422, "invalid", "tags"),
        (TRANSCRIPT, {"tags": ",".join(map(str, range(33)))}, 422, "invalid", "tags"),
        (TRANSCRIPT, {"attr.": "a"}, 422, "invalid", "attr."),
        (TRANSCRIPT, {"attr.a b": "a"}, 422, "invalid", "attr.a b"),
        (TRANSCRIPT, {f"attr.{'k' * 65}": "a"}, 422, "invalid", f"attr.{'k' * 65}"),
        (TRANSCRIPT, {"attr.plan": "a" * 257}, 422, "invalid", "attr.plan"),
        (TRANSCRIPT, {"attr.plan": "a\x7f"}, 422, "invalid", "attr.plan"),
        (TRANSCRIPT, {f"attr.{n}": "a" for n in range(33)}, 422, "invalid", "attr"),
        (b"", {}, 422, "unknown_format", "format"),
        (b"hello\n", {}, 422, "unknown_format", "format"),
        (
            b'{"schema_version": "ATIF-v1.4", "session_id": "s", "steps": [{"source": "user"}]}',
            {},
            422,
            "no_time",
            "started_at",
        ),
        (gzip.compress(TRANSCRIPT)[:-9], {}, 400, "truncated_body", None),
        (b"\x1f\x8b" + b"no" * 20, {}, 400, "bad_encoding", None),
    ],
)
def test_what_is_refused(
    send: Import, body: bytes, query: dict[str, Any], status: int, code: str, field: str | None
) -> None:
    answer = send(body, **query)
    assert (answer.status_code, answer.json["code"]) == (status, code), answer.json
    assert list(answer.json.get("fields", {})) == ([] if field is None else [field])


def test_other_content_types_are_refused(send: Import) -> None:
    answer = send(TRANSCRIPT, "application/x-ndjson")
    assert (answer.status_code, answer.json["code"]) == (415, "unsupported_content_type")


def test_a_named_format_may_have_no_lines(imported: Imported) -> None:
    answer = imported(b"", format="claude")
    assert (answer["lines"], answer["first_ts"], answer["sessions"]) == (0, None, [])


def test_limits_are_those_of_events(send: Import, imported: Imported, runtime: Runtime) -> None:
    settings = runtime.settings
    most = settings.ingest_max_body_bytes
    assert send(b" " * (most + 1)).status_code == 413
    bomb = gzip.compress(b"\n" * (settings.ingest_max_unpacked_bytes + 1), 1)
    assert send(bomb).status_code == 413
    huge = lines_of(event(1, text="x" * settings.ingest_max_event_bytes), event(2))
    answer = imported(huge)
    assert (answer["accepted"], answer["skipped"]) == (1, 1)


def test_an_answer_shows_the_first_hundred_sessions(imported: Imported) -> None:
    answer = imported(lines_of(*(event(1, f"s{number:03}") for number in range(120))))
    assert answer["session_count"] == 120
    assert [one["session_id"] for one in answer["sessions"]] == [f"s{n:03}" for n in range(100)]


def test_nothing_is_taken_while_the_lock_is_held(
    send: Import,
    runtime: Runtime,
    org: Org,
    drain: Store,
    listed: Listed,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lock, "WAIT_SECS", 0.1)
    with lock.locked(runtime.redis, org.id):
        answer = send(TRANSCRIPT)
    assert (answer.status_code, answer.json["code"]) == (503, "imports_busy")
    assert int(answer.headers["Retry-After"]) in (1, 2, 3)
    drain()
    assert listed() == []
    assert send(TRANSCRIPT).json["accepted"] == 5


def test_a_lock_that_was_lost_lets_nothing_through(
    send: Import, runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process stood still until its lease was over, and another import has the lock."""
    guard = lock.Lock.guard

    def lose(held: lock.Lock, pipe: Any) -> None:
        guard(held, pipe)
        runtime.redis.set(held.key, b"another")

    monkeypatch.setattr(lock.Lock, "guard", lose)
    assert send(TRANSCRIPT).status_code == 503
    monkeypatch.undo()
    assert runtime.redis.get(f"imports:lock:{org.id}") == b"another"
    runtime.redis.delete(f"imports:lock:{org.id}")
    assert send(TRANSCRIPT).json["accepted"] == 5


def test_organizations_do_not_see_each_other(client: FlaskClient, runtime: Runtime) -> None:
    for _ in range(2):
        headers = new_key(runtime, make_org(runtime), ["events:add"])
        answer = client.post(
            "/v1/events/import", data=TRANSCRIPT, content_type=OCTETS, headers=headers
        )
        assert counts(answer.get_json()) == (5, 5, 0)


def test_the_permission(client: FlaskClient, key: Callable[..., Headers]) -> None:
    answer = client.post(
        "/v1/events/import", data=TRANSCRIPT, content_type=OCTETS, headers=key("events:read")
    )
    assert (answer.status_code, answer.get_json()["required_permission"]) == (403, "events:add")


def test_a_trace_has_one_session_in_all_files(
    imported: Imported,
    drain: Store,
    listed: Listed,
    client: FlaskClient,
    key: Callable[..., Headers],
) -> None:
    result = {
        "name": "gen_ai.evaluation.result",
        "timeUnixNano": str(test_otlp.START),
        "attributes": test_otlp.attributes(gen_ai__evaluation__name="good"),
    }
    log = {"timeUnixNano": str(test_otlp.START), "traceId": test_otlp.TRACE, "body": {}}
    later = lines_of(test_otlp.logs(log))
    # A dry run decides nothing.
    tried = imported(later, dry_run="true")
    assert tried["events"] == 0
    spans = lines_of(test_otlp.request({**test_otlp.AGENT, "events": [result]}, test_otlp.MODEL))
    assert counts(imported(spans)) == (5, 5, 0)
    drain()
    assert counts(imported(later)) == (1, 1, 0)
    drain()
    assert counts(imported(spans + later)) == (6, 0, 6)
    assert {row["session_id"] for row in listed()} == {"visit"}
    rows = client.get("/v1/evaluations", headers=key("evaluations:read")).get_json()["evaluations"]
    assert [row["session_id"] for row in rows] == ["visit"]


def test_many_events_are_looked_up_in_parts(
    imported: Imported, drain: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = lines_of(*(event(n % 50, f"s{n % 7}", n=n) for n in range(60)))
    imported(body[: len(body) // 2 + 1])
    drain()
    monkeypatch.setattr(existing, "_IDS", 7)
    monkeypatch.setattr(existing, "_SESSIONS", 2)
    done = imported(body)
    assert done["accepted"] + done["duplicate"] == done["events"] == 60
    drain()
    assert counts(imported(body)) == (60, 0, 60)


def test_what_is_stored_is_what_was_said(imported: Imported, drain: Store, listed: Listed) -> None:
    imported(TRANSCRIPT, environment="laptop")
    drain()
    row = listed("event_type=human_input&order=asc")[0]
    assert (row["session_id"], row["agent_id"]) == ("s", "claude-code")
    assert (row["payload"]["response"], row["environment"]) == ("words 0", "laptop")
