"""POST /events/import with redacted keys, which files have and events may call otherwise."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest.drain import Drain
from shared.intake.ingest.rules import IngestRulesCache
from tests.shared.intake.imports.test_atif import STEPS
from tests.shared.intake.imports.test_atif import document as atif
from tests.shared.intake.imports.test_codex import CONTEXT, counted, line
from tests.shared.intake.imports.test_otlp import START, attributes, request, span
from tests.support.app import Headers
from tests.support.runtime import Org
from tests.support.transcripts import lines_of

HUSH = "hush-hush-hush"
KEPT = "a word that stays"


def claude_lines() -> bytes:
    """A response with a thought and a call, and lines that cannot be read."""
    blocks = [
        {"type": "thinking", "thinking": HUSH},
        {"type": "text", "text": KEPT},
        {"type": "tool_use", "id": "c", "name": "ls", "input": {"path": HUSH}},
    ]
    message = {"id": "m", "role": "assistant", "content": blocks, "stop_reason": "end_turn"}
    one = {"type": "assistant", "uuid": "u", "sessionId": "s", "message": message}
    one |= {"gitBranch": HUSH, "cwd": f"/srv/{HUSH}", "version": HUSH}
    good = {**one, "timestamp": "2026-11-18T09:00:00Z"}
    bad = {**one, "timestamp": "yesterday"}
    return lines_of(good, bad) + b"{'thinking': '" + HUSH.encode() + b"'}\n"


def codex_lines() -> bytes:
    arguments = json.dumps({"path": HUSH})
    call = line(1, "response_item", "function_call", call_id="c", name="ls", arguments=arguments)
    thought = line(
        2, "response_item", "reasoning", summary=[{"type": "summary_text", "text": HUSH}]
    )
    words = line(3, "event_msg", "user_message", message=KEPT)
    bad = {**thought, "timestamp": "yesterday"}
    git = {"repository_url": f"https://example.com/{HUSH}/notes", "branch": KEPT}
    meta = line(0, "session_meta", id="s", model_provider=HUSH, git=git)
    return lines_of(meta, CONTEXT, call, thought, counted(3, input_tokens=1), words, bad)


def atif_document() -> bytes:
    agent = {**STEPS[2], "reasoning_content": HUSH, "message": KEPT}
    agent["tool_calls"] = [{**STEPS[2]["tool_calls"][0], "arguments": {"path": HUSH}}]
    bad = {"source": "agent", "timestamp": "yesterday", "reasoning_content": [HUSH]}
    return json.dumps(atif([*STEPS[:2], agent, bad]), indent=1).encode()


def otlp_lines() -> bytes:
    messages = json.dumps([{"role": "user", "parts": [{"type": "text", "content": HUSH}]}])
    chat = span(1, gen_ai__operation__name="chat", session__id="s", user__id=HUSH, other=KEPT)
    chat["attributes"] += [{"key": "gen_ai.input.messages", "value": {"stringValue": messages}}]
    chat["events"] = [
        {
            "timeUnixNano": str(START),
            "name": "exception",
            "attributes": attributes(exception__type="E", exception__stacktrace=HUSH),
        },
        {
            "timeUnixNano": str(START),
            "name": "gen_ai.evaluation.result",
            "attributes": [
                *attributes(gen_ai__evaluation__name="tone", gen_ai__evaluation__explanation=HUSH),
                {"key": "gen_ai.evaluation.score.value", "value": {"doubleValue": 0.5}},
            ],
        },
    ]
    bad = {**span(2, user__id=HUSH), "traceId": "x"}
    return lines_of(request(chat), request(bad))


def agenteye_lines() -> bytes:
    good = {"session_id": "s", "timestamp": "2026-11-18T09:00:00Z", "type": "note"}
    return lines_of({**good, "password": HUSH, "text": KEPT}, {"password": HUSH, "type": "note"})


FILES: dict[str, tuple[Callable[[], bytes], list[str]]] = {
    "agenteye": (agenteye_lines, ["password"]),
    "atif": (atif_document, ["reasoning_content", "arguments"]),
    "claude": (claude_lines, ["thinking", "input", "gitbranch", "cwd", "version"]),
    "codex": (codex_lines, ["arguments", "summary", "repository_url", "model_provider"]),
    "otlp": (
        otlp_lines,
        [
            "gen_ai.input.messages",
            "user.id",
            "exception.stacktrace",
            "gen_ai.evaluation.explanation",
        ],
    ),
}


@pytest.mark.parametrize("form", FILES)
def test_values_of_keys_of_the_file_are_nowhere(
    client: FlaskClient, runtime: Runtime, org: Org, admin: Headers, form: str
) -> None:
    make, keys = FILES[form]
    body = make()
    setting = client.put("/v1/settings/redaction.payload_keys", json={"value": keys}, headers=admin)
    assert setting.status_code == 200
    answer: Any = client.post(
        "/v1/events/import",
        data=body,
        content_type="application/octet-stream",
        query_string={"format": form},
        headers=admin,
    )
    assert (answer.status_code, answer.json["skipped"] > 0) == (200, True)
    Drain(runtime, "tests", IngestRulesCache(runtime)).run()
    stored = {
        path: client.get(f"/v1/{path}", headers=admin, buffered=True).get_data(as_text=True)
        for path in ("events", "evaluations", "receipts/skipped")
    }
    rows = runtime.clickhouse.rows(
        "SELECT * FROM evaluations WHERE org_id = {org_id:String}", {"org_id": org.id}
    )
    assert bool(rows) == (form == "otlp")
    assert KEPT in stored["events"]
    assert "[redacted]" in stored["events"]
    assert HUSH not in repr((answer.json, rows, stored))


@pytest.mark.parametrize("form", FILES)
def test_what_is_redacted_later_is_the_same_event(
    client: FlaskClient, admin: Headers, form: str
) -> None:
    """The id is that of the line as it was sent."""
    make, keys = FILES[form]
    body = make()
    path = f"/v1/events/import?format={form}"
    kind = "application/octet-stream"
    first: Any = client.post(path, data=body, content_type=kind, headers=admin)
    client.put("/v1/settings/redaction.payload_keys", json={"value": keys}, headers=admin)
    again: Any = client.post(path, data=body, content_type=kind, headers=admin)
    assert first.json["accepted"] > 0
    assert (again.json["accepted"], again.json["duplicate"]) == (0, first.json["accepted"])
