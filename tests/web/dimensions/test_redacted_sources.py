"""In every way in, a redacted key is no source, and the dimension of its name stays empty."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest
from flask.testing import FlaskClient

from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest.drain import Drain
from shared.intake.ingest.rules import IngestRulesCache
from shared.intake.otlp.assignment import assigner
from shared.intake.otlp.assignment.assigner import Assigner
from shared.intake.otlp.assignment.rules import OrganizationRules
from tests.shared.intake.imports.test_atif import document as atif
from tests.shared.intake.imports.test_codex import line as codex_line
from tests.shared.intake.imports.test_otlp import request, span
from tests.support.app import Headers
from tests.support.runtime import Org
from tests.support.transcripts import lines_of

HUSH = "hush-hush-hush"
MOMENT = "2026-11-18T09:00:00Z"
IMPORT, EVENTS, TRACES = "/v1/events/import", "/v1/events", "/v1/traces"
# The dimensions that the ways have, by their names in events.
NAMES = ["USER_ID", "Agent_Version", "TAGS", "Branch", "repository", "PLAN"]


def event() -> dict[str, Any]:
    named = {"user_id": HUSH, "agent_version": HUSH, "release": HUSH, "tags": [HUSH]}
    more = {"metadata": {"plan": HUSH}, "attributes": {"branch": HUSH, "kept": "kept"}}
    return {"session_id": "s", "timestamp": MOMENT, "type": "note", **named, **more}


def claude() -> bytes:
    said = {"role": "user", "content": "words"}
    one = {"type": "user", "uuid": "u", "sessionId": "s", "timestamp": MOMENT, "message": said}
    return lines_of({**one, "version": HUSH, "gitBranch": HUSH, "cwd": f"/srv/{HUSH}"})


def codex() -> bytes:
    git = {"branch": HUSH, "repository_url": f"https://example.com/{HUSH}/{HUSH}"}
    meta = codex_line(0, "session_meta", id="s", cli_version=HUSH, git=git)
    return lines_of(meta, codex_line(1, "event_msg", "user_message", message="words"))


def otlp() -> bytes:
    chat = span(
        1,
        gen_ai__operation__name="chat",
        session__id="s",
        user__id=HUSH,
        tag__tags=HUSH,
        langsmith__metadata__plan=HUSH,
        kept="kept",
    )
    return json.dumps(request(chat, service__version=HUSH, vcs__ref__head__name=HUSH)).encode()


class Way(NamedTuple):
    """A way in: where a body goes, and the keys that its dimensions come from, in another case."""

    path: str
    body: Callable[[], bytes]
    sources: list[str]
    query: Mapping[str, str] = {}
    kind: str = "application/octet-stream"


OTLP_SOURCES = [
    "User.Id",
    "TAG.tags",
    "langsmith.metadata.PLAN",
    "Service.Version",
    "VCS.ref.head.name",
]
OF_EVENTS = ["User_ID", "AGENT_version", "RELEASE", "Tags", "METADATA", "Branch"]
GIVEN = {
    "user_id": HUSH,
    "agent_version": HUSH,
    "tags": HUSH,
    "attr.plan": HUSH,
    "attr.branch": HUSH,
}
WAYS = {
    "events": Way(EVENTS, lambda: lines_of(event()), OF_EVENTS, kind="application/x-ndjson"),
    "agenteye": Way(IMPORT, lambda: lines_of(event()), OF_EVENTS),
    "claude": Way(IMPORT, claude, ["VERSION", "GitBranch", "CWD"]),
    "codex": Way(IMPORT, codex, ["CLI_version", "Branch", "Repository_URL"]),
    "atif": Way(
        IMPORT,
        lambda: json.dumps(atif(agent={"name": "a", "version": HUSH, "model_name": "m"})).encode(),
        ["Version"],
    ),
    "otlp file": Way(IMPORT, otlp, OTLP_SOURCES),
    "otlp": Way(TRACES, otlp, OTLP_SOURCES, kind="application/json"),
    "parameters": Way(
        IMPORT,
        lambda: lines_of({"session_id": "s", "timestamp": MOMENT, "type": "note"}),
        NAMES,
        query=GIVEN,
    ),
}


@pytest.fixture
def stored(
    client: FlaskClient,
    runtime: Runtime,
    org: Org,
    admin: Headers,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[Way, list[str]], list[tuple[Any, ...]]]:
    """Sends by a way while these keys are redacted, and returns the dimensions of its events."""
    real = assigner.now_ms
    monkeypatch.setattr(assigner, "now_ms", lambda redis: real(redis) + 60_000)

    def send(way: Way, keys: list[str]) -> list[tuple[Any, ...]]:
        setting = {"value": keys}
        client.put("/v1/settings/redaction.payload_keys", json=setting, headers=admin)
        answer = client.post(
            way.path,
            data=way.body(),
            content_type=way.kind,
            query_string=dict(way.query),
            headers=admin,
        )
        assert answer.status_code in (200, 202), answer.data
        Assigner(runtime, OrganizationRules(runtime)).run()
        Drain(runtime, "tests", IngestRulesCache(runtime)).run()
        return runtime.clickhouse.rows(
            "SELECT user_id, agent_version, tags, attributes FROM events FINAL"
            " WHERE org_id = {org_id:String}",
            {"org_id": org.id},
        )

    return send


Stored = Callable[[Way, list[str]], list[tuple[Any, ...]]]


@pytest.mark.parametrize("name", WAYS)
def test_nothing_is_redacted_without_the_setting(stored: Stored, name: str) -> None:
    """So the other tests have something to miss."""
    assert HUSH in repr(stored(WAYS[name], []))


@pytest.mark.parametrize("name", WAYS)
def test_a_redacted_key_is_no_source(stored: Stored, name: str) -> None:
    rows = stored(WAYS[name], WAYS[name].sources)
    assert rows
    assert HUSH not in repr(rows)
    assert "[redacted]" not in repr(rows)


@pytest.mark.parametrize("name", WAYS)
def test_the_dimension_of_a_redacted_name_stays_empty(stored: Stored, name: str) -> None:
    rows = stored(WAYS[name], NAMES)
    assert rows
    assert HUSH not in repr(rows)
    assert "[redacted]" not in repr(rows)
    for user_id, agent_version, tags, attributes in rows:
        assert (user_id, agent_version, list(tags)) == (None, None, [])
        assert not {"branch", "repository", "plan"} & attributes.keys()
