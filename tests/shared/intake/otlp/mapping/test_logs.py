"""Log records: content of calls of models, evaluations, and what coding agents report."""

import json
from typing import Any

import msgspec
import pytest

from shared.intake.otlp.mapping import Assignment, log_evaluations, log_events
from tests.support.otlp_spans import (
    LIMIT,
    ORG,
    RESOURCE,
    SCOPE,
    SPAN_ID,
    START_NS,
    TRACE_ID,
    log,
    log_payloads,
)

ASKS = [{"role": "user", "content": "Hi"}]
CALL = {"id": "c1", "name": "search", "arguments": {"q": "x"}}


def one(**changes: Any) -> dict[str, Any]:
    [payload] = log_payloads(log(**changes))
    return payload


@pytest.mark.parametrize(
    ("named", "name"),
    [
        ({"event_name": "a.b", "body": "text"}, "a.b"),
        ({"attributes": {"event.name": "a.b"}, "body": "text"}, "a.b"),
        ({"event_name": "event src/a.rs:7", "attributes": {"event.name": "a.b"}, "body": 1}, "a.b"),
        ({"event_name": "event src/a.rs:7", "body": 1}, "event src/a.rs:7"),
        ({"event_name": "a.b", "attributes": {"event.name": "c.d"}, "body": 1}, "a.b"),
        ({"body": "text"}, None),
        ({"body": {"a": 1}}, None),
    ],
)
def test_a_record_without_a_meaning_of_its_own_is_a_log(
    named: dict[str, Any], name: str | None
) -> None:
    payload = one(**named)
    assert payload["type"] == "log"
    assert payload["severity"] == "INFO"
    assert payload["body"] == named["body"]
    assert payload.get("name") == name
    assert payload["timestamp"] == "2026-11-22T08:26:40.000000Z"
    assert payload["agent_id"] == "an agent"


def test_where_a_record_comes_from() -> None:
    otel = one(attributes={"a": 1}, event_name="e")["otel"]
    assert otel == {
        "trace_id": TRACE_ID,
        "span_id": SPAN_ID,
        "parent_span_id": None,
        "name": "e",
        "kind": "log",
        "service": "shop",
        "scope": "an.instrumentation",
        "attributes": {"a": 1},
        "resource": {"service.name": "shop"},
    }
    alone = one(trace_id="", span_id="")["otel"]
    assert (alone["trace_id"], alone["span_id"]) == (None, None)


@pytest.mark.parametrize(
    ("name", "body", "fields"),
    [
        (
            "gen_ai.system.message",
            {"content": "Be terse"},
            {"role": "system", "content": "Be terse"},
        ),
        ("gen_ai.user.message", {"content": "Hi"}, {"role": "user", "content": "Hi"}),
        (
            "gen_ai.assistant.message",
            {
                "tool_calls": [
                    {"id": "c1", "function": {"name": "search", "arguments": '{"q": "x"}'}}
                ]
            },
            {"role": "assistant", "tool_calls": [CALL]},
        ),
        (
            "gen_ai.tool.message",
            {"content": "18", "id": "c1"},
            {"role": "tool", "content": "18", "tool_call_id": "c1"},
        ),
        (
            "gen_ai.choice",
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": "Hello"},
            },
            {"role": "assistant", "content": "Hello", "stop_reason": "stop"},
        ),
        ("gen_ai.user.message", {}, {"role": "user"}),
    ],
)
def test_a_message(name: str, body: dict[str, Any], fields: dict[str, Any]) -> None:
    names = ("role", "content", "tool_calls", "tool_call_id", "stop_reason")
    for record in (
        one(event_name=name, body=body),
        one(attributes={"event.name": name, **body}),
        one(event_name=name, attributes={"gen_ai.event.content": json.dumps(body)}),
    ):
        assert record["type"] == "model_message"
        assert {key: record[key] for key in names if key in record} == fields
        assert record["request_id"] == SPAN_ID


def test_a_message_keeps_what_is_no_part_of_it() -> None:
    told = {"gen_ai.system": "openai", "content": "Hi", "event.name": "gen_ai.user.message"}
    kept = one(attributes=told)["otel"]["attributes"]
    assert kept == {"gen_ai.system": "openai", "event.name": "gen_ai.user.message"}


def test_the_content_of_a_call_promotes_no_tokens() -> None:
    told = {
        "gen_ai.request.model": "m",
        "gen_ai.response.model": "m-1",
        "gen_ai.usage.input_tokens": 21,
        "gen_ai.input.messages": [
            {"role": "system", "parts": [{"type": "text", "content": "x"}]},
            *ASKS,
        ],
        "gen_ai.output.messages": [
            {
                "role": "assistant",
                "parts": [{"type": "text", "content": "Hello"}, {"type": "tool_call", **CALL}],
                "finish_reason": "stop",
            }
        ],
        "gen_ai.tool.definitions": [{"name": "search"}],
        "gen_ai.request.temperature": 0.2,
    }
    payload = one(event_name="gen_ai.client.inference.operation.details", attributes=told)
    assert payload["type"] == "model_content"
    assert payload["model"] == "m-1"
    assert payload["messages"] == ASKS
    assert payload["system"] == "x"
    assert payload["tools"] == [{"name": "search"}]
    assert (payload["content"], payload["tool_calls"]) == ("Hello", [CALL])
    assert payload["stop_reason"] == "stop"
    assert payload["request_id"] == SPAN_ID
    assert not {"input_tokens", "output_tokens"} & payload.keys()
    assert "gen_ai.input.messages" not in payload["otel"]["attributes"]
    assert payload["otel"]["attributes"] == {
        "gen_ai.usage.input_tokens": 21,
        "gen_ai.request.temperature": 0.2,
    }


def test_an_evaluation() -> None:
    told = {
        "gen_ai.evaluation.name": "relevance",
        "gen_ai.evaluation.score.value": 1,
        "gen_ai.evaluation.explanation": "it answers",
    }
    record = log(told, event_name="gen_ai.evaluation.result")
    [payload] = log_payloads(record)
    assert payload["type"] == "evaluation_result"
    names = ("evaluation_name", "score", "explanation", "request_id")
    assert [payload[name] for name in names] == ["relevance", 1, "it answers", SPAN_ID]
    [row] = log_evaluations(ORG, record, RESOURCE, Assignment("a session", "bot"))
    assert (row.scores, row.completed_at) == ({"relevance": 1.0}, START_NS // 1000)
    assert log_evaluations(ORG, log(told), RESOURCE, Assignment("a session", "bot")) == []


def ids(**changes: Any) -> int:
    record = log(event_name="e", **changes)
    [event] = log_events(ORG, record, RESOURCE, SCOPE, Assignment("a session", "bot"), LIMIT)
    return event.id


def test_the_id_of_a_record() -> None:
    assert 0 <= ids() < 2**53
    assert ids() == ids(attributes={"a": 1}, severity="WARN")
    for change in (
        {"trace_id": ""},
        {"span_id": ""},
        {"time_ns": START_NS + 1},
        {"digest": 1},
        {"event_name": "f"},
    ):
        changed = msgspec.structs.replace(log(event_name="e"), **change)
        [event] = log_events(ORG, changed, RESOURCE, SCOPE, Assignment("a session", "bot"), LIMIT)
        assert event.id != ids()
