"""POST /events/import with `replace`: events that an earlier import stored get their new values."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from flask.testing import FlaskClient
from sqlalchemy import delete as delete_rows

from shared.evaluation.evaluation_jobs.models import WatchedSession
from shared.foundation.deployment.runtime import Runtime
from shared.intake.imports import claude
from shared.intake.ingest.drain import Drain
from shared.intake.ingest.rules import IngestRulesCache
from shared.upkeep.deletions.target import DeletionTarget
from tests.support.app import Headers, new_key
from tests.support.deletions import delete
from tests.support.runtime import Org, make_org
from tests.support.transcripts import lines_of

Imported = Callable[..., dict[str, Any]]
Store = Callable[[], int]
Listed = Callable[..., list[dict[str, Any]]]
COUNTS = ("accepted", "duplicate", "replaced")
USAGE = {
    "input_tokens": 10,
    "output_tokens": 5,
    "cache_creation_input_tokens": 8,
    "cache_creation": {"ephemeral_1h_input_tokens": 8},
}


def line(number: int, kind: str, message: dict[str, Any], session: str = "s") -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": f"u{number}",
        "sessionId": session,
        "timestamp": f"2026-11-18T09:00:{number:02}Z",
        "version": "2.0.1",
        "gitBranch": "topic",
        "message": {"role": kind, **message},
    }


def conversation(session: str = "s") -> list[dict[str, Any]]:
    """Returns the lines of four events: a start, an input, a request and its response."""
    answer = {"id": "m", "model": "claude-opus-4", "stop_reason": "end_turn", "usage": USAGE}
    return [
        line(1, "user", {"content": "hello"}, session),
        line(2, "assistant", {**answer, "content": [{"type": "text", "text": "hi"}]}, session),
    ]


BODY = lines_of(*conversation())


@pytest.fixture
def imported(client: FlaskClient, reader: Headers) -> Imported:
    """Imports a file and returns the answer."""

    def post(body: bytes, headers: Headers = reader, **query: object) -> dict[str, Any]:
        answer: Any = client.post(
            "/v1/events/import",
            data=body,
            content_type="application/octet-stream",
            headers=headers,
            query_string=query,
        )
        assert answer.status_code == 200, answer.json
        return dict(answer.json)

    return post


@pytest.fixture
def drain(runtime: Runtime) -> Store:
    """Stores what waits."""
    return lambda: Drain(runtime, "tests", IngestRulesCache(runtime)).run()


@pytest.fixture
def as_before(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Lets imports tell neither lifetimes nor dimensions; the call ends that."""
    usage = claude._usage
    with_less = {"cache_write_1h_tokens": None}
    monkeypatch.setattr(claude, "_usage", lambda node: {**usage(node), **with_less})
    monkeypatch.setattr(claude, "dimensions_of", lambda *_, **__: {})
    return monkeypatch.undo


def counts(answer: dict[str, Any]) -> tuple[int, ...]:
    return tuple(answer[name] for name in COUNTS)


def rows_of(runtime: Runtime, org: Org, final: str = "FINAL") -> list[tuple[Any, ...]]:
    return runtime.clickhouse.rows(
        "SELECT event_type, id, arrival, user_id, agent_version, attributes, cache_write_1h_tokens"
        f" FROM events {final} WHERE org_id = {{org_id:String}} ORDER BY ts, arrival, id",
        {"org_id": org.id},
    )


@pytest.mark.parametrize("is_stored", [True, False])
def test_stored_events_get_what_the_file_says_now(
    runtime: Runtime,
    org: Org,
    imported: Imported,
    drain: Store,
    as_before: Callable[[], None],
    *,
    is_stored: bool,
) -> None:
    assert counts(imported(BODY)) == (4, 0, 0)
    if is_stored:
        drain()
        before = rows_of(runtime, org)
    as_before()
    assert counts(imported(BODY)) == (0, 4, 0)
    assert counts(imported(BODY, replace="true", dry_run="true")) == (0, 0, 4)
    assert counts(imported(BODY, replace="true")) == (0, 0, 4)
    drain()
    after = rows_of(runtime, org)
    if is_stored:
        assert [row[:3] for row in after] == [row[:3] for row in before]
        assert [row[3:] for row in before] == [(None, None, {}, None)] * 4
    assert [row[0] for row in after] == [
        "agent_start",
        "human_input",
        "model_request",
        "model_response",
    ]
    assert {row[4] for row in after} == {"2.0.1"}
    assert all(row[5] == {"branch": "topic"} for row in after)
    assert [row[6] for row in after] == [None, None, None, 8]


def test_each_replacement_counts_and_each_copy_of_an_event_is_one(
    runtime: Runtime, org: Org, imported: Imported, drain: Store, listed: Listed
) -> None:
    imported(BODY)
    drain()
    for user in ("zoe", "ann"):
        assert counts(imported(BODY, replace="true", user_id=user)) == (0, 0, 4)
    drain()
    assert {row[3] for row in rows_of(runtime, org)} == {"ann"}
    assert counts(imported(BODY, user_id="zoe")) == (0, 4, 0)
    drain()
    assert {row["user_id"] for row in listed()} == {"ann"}
    assert len(listed()) == 4


def test_new_lines_are_added_beside(
    runtime: Runtime, org: Org, imported: Imported, drain: Store
) -> None:
    imported(BODY)
    drain()
    more = BODY + lines_of(line(5, "user", {"content": "more"}))
    assert counts(imported(more, replace="true", user_id="zoe")) == (1, 0, 4)
    drain()
    assert [row[3] for row in rows_of(runtime, org)] == ["zoe"] * 5


def test_only_events_of_imports_of_the_format_are_replaced(
    runtime: Runtime, org: Org, imported: Imported, post: Callable[..., Any], drain: Store
) -> None:
    """A session from elsewhere is left alone, and events in the form of the API name no format."""
    event = {"session_id": "s", "timestamp": "2026-11-18T09:00:00Z", "type": "note"}
    post(lines_of(event))
    drain()
    assert counts(imported(lines_of(event), replace="true", user_id="zoe")) == (0, 1, 0)
    answer = imported(BODY, replace="true", user_id="zoe")
    assert counts(answer) == (0, 0, 0)
    assert [one["session_id"] for one in answer["skipped_sessions"]] == ["s"]


def test_another_organization_and_deleted_sessions_stay_as_they_are(
    runtime: Runtime, org: Org, imported: Imported, drain: Store
) -> None:
    other = make_org(runtime)
    elsewhere = new_key(runtime, other, ("events:add",))
    imported(BODY, headers=elsewhere)
    imported(BODY)
    drain()
    before = rows_of(runtime, other)
    assert counts(imported(BODY, replace="true", user_id="zoe")) == (0, 0, 4)
    # It is deleted while the replacement waits.
    delete(runtime, org, DeletionTarget(session_ids=("s",)))
    drain()
    assert rows_of(runtime, org, "") == []
    assert rows_of(runtime, other) == before


def test_a_replacement_has_no_session_evaluated_again(
    runtime: Runtime, org: Org, imported: Imported
) -> None:
    """The conversation is the same; only what is told of it differs."""
    endpoint = "http://127.0.0.1:9/evaluate"
    settings = msgspec.structs.replace(runtime.settings, evaluator_endpoint=endpoint)
    evaluating = replace(runtime, settings=settings)

    def watched() -> int:
        Drain(evaluating, "tests", IngestRulesCache(evaluating)).run()
        found = delete_rows(WatchedSession).where(WatchedSession.org_id == org.uuid)
        with runtime.postgres.transaction() as session:
            return len(session.execute(found.returning(WatchedSession.session_id)).all())

    imported(BODY)
    assert watched() == 1
    assert counts(imported(BODY, replace="true", user_id="zoe")) == (0, 0, 4)
    assert watched() == 0
    assert {row[3] for row in rows_of(runtime, org)} == {"zoe"}
