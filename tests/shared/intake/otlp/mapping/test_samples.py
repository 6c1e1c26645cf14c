"""The recorded requests of real packages become events."""

import time
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import xxhash

from shared.intake.otlp.mapping import (
    Assignment,
    Event,
    environment_of,
    kind_of,
    log_events,
    own_agent,
    real_span,
    same_thing,
    service_agent,
    session_name,
    span_events,
    unmapped,
)
from shared.intake.otlp.records import Records
from shared.intake.otlp.wire.reading import JSON, PROTOBUF, Reading
from tests.support.otlp import needs_samples, sample_folder, signal_of
from tests.support.otlp_spans import LIMIT, ORG

pytestmark = needs_samples

TRACES = (
    "oi-langchain",
    "oi-openai-tools",
    "otel-anthropic",
    "otel-openai-broken",
    "otel-openai-events",
    "otel-openai-tools",
    "pydantic-ai-logfire-native",
    "pydantic-ai-tool-error",
)
QUESTION = "What is the weather in Lisbon?"
ANSWER = "It is 18 degrees and clear in Lisbon."
SYSTEM = "You are a terse weather assistant."
FORMS = {".json": JSON, ".pb": PROTOBUF}


def records_of(name: str, suffix: str = ".json") -> Iterator[Records]:
    for path in sorted((sample_folder() / name).glob(f"*{suffix}")):
        if "metrics" in path.name:
            continue
        reading = Reading(signal_of(path), FORMS[suffix], time.time_ns())
        for _ in reading.steps(path.read_bytes()):
            pass
        assert reading.bad == []
        yield reading.records


def events_of(records: Records) -> list[Event]:
    """The events, each record in the session that it names, else in its trace's."""
    events: list[Event] = []
    for sent in records.spans:
        real = real_span(sent)
        span, resource = real or sent, records.resources[sent.resource]
        kind = kind_of(span)
        named = session_name(span, resource)
        assignment = Assignment(
            span.trace_id if named is None else named[1],
            own_agent(span, kind) or service_agent(resource),
            None,
            "span" if kind == "other" else kind,
            real is not None,
        )
        events += span_events(ORG, span, resource, records.scopes[span.scope], assignment, LIMIT)
    for log in records.logs:
        resource, assignment = records.resources[log.resource], Assignment(log.trace_id, "an agent")
        events += log_events(ORG, log, resource, records.scopes[log.scope], assignment, LIMIT)
    return events


def payloads(name: str, *types: str) -> list[dict[str, Any]]:
    """The payloads of a sample's events of some types, by time."""
    events = [event for records in records_of(name) for event in events_of(records)]
    wanted = [event for event in events if event.event_type in types and not event.pending]
    wanted.sort(key=lambda event: event.ts)
    return [msgspec.json.decode(event.payload) for event in wanted]


@pytest.mark.parametrize("name", TRACES)
def test_protobuf_and_json_become_the_same_bytes(name: str) -> None:
    in_json = [event for records in records_of(name) for event in events_of(records)]
    in_protobuf = [event for records in records_of(name, ".pb") for event in events_of(records)]
    assert in_json
    assert in_json == in_protobuf
    assert len({event.id for event in in_json if not event.pending}) == len(
        [event for event in in_json if not event.pending]
    )


def test_the_ids_of_events_never_change() -> None:
    """Releases before gave the same ids, so that what is sent again is still the same event."""
    ids = [
        event.id for name in TRACES for records in records_of(name) for event in events_of(records)
    ]
    assert len(ids) == 57
    assert xxhash.xxh3_64_hexdigest(repr(ids).encode()) == "a16633c1ff5b156d"


def test_dimensions_of_langchain() -> None:
    [use] = payloads("oi-langchain", "tool_use")
    assert use["attributes"]["ls_integration"] == "langchain_create_agent"
    assert not {"thread_id", "session_id", "lc_agent_name"} & use["attributes"].keys()


def test_the_version_of_a_service() -> None:
    kinds = ("agent_start", "model_request", "model_response", "tool_use", "tool_result")
    for payload in payloads("pydantic-ai-tool-error", *kinds):
        assert payload["agent_version"]


@pytest.mark.parametrize(
    "name",
    ["oi-langchain", "oi-openai-tools", "otel-openai-tools", "pydantic-ai-logfire-native"],
)
def test_a_conversation_is_the_same_from_every_package(name: str) -> None:
    first, second = payloads(name, "model_request")
    call = {"id": "call_first0001", "name": "get_weather", "arguments": {"city": "Lisbon"}}
    assert first["system"] == second["system"] == SYSTEM
    assert first["messages"] == [{"role": "user", "content": QUESTION}]
    asked, called, answered = second["messages"]
    assert asked == first["messages"][0]
    assert (called["role"], called["tool_calls"]) == ("assistant", [call])
    assert "content" not in called
    assert (answered["role"], answered["content"]) == ("tool", "18 degrees, clear, in Lisbon")
    assert answered["tool_call_id"] == "call_first0001"
    assert first["request_id"] == first["otel"]["span_id"]
    [tool] = first["tools"]
    assert (tool.get("function") or tool)["name"] == "get_weather"

    first, second = payloads(name, "model_response")
    assert first["tool_calls"] == [call]
    assert "content" not in first
    assert (second["role"], second["content"]) == ("assistant", ANSWER)
    assert "tool_calls" not in second
    for response in (first, second):
        assert (response["input_tokens"], response["output_tokens"]) == (21, 9)
        assert response["model"] == "fake-model-2026-01-01"
        assert response["environment"] == "holdout"
    assert first["stop_reason"] in ("tool_calls", "tool_call")
    assert second["stop_reason"] == "stop"


@pytest.mark.parametrize(
    ("name", "goal", "summary"),
    [
        ("oi-langchain", QUESTION, ANSWER),
        ("oi-openai-tools", QUESTION, ANSWER),
        ("pydantic-ai-logfire-native", QUESTION, ANSWER),
        ("otel-openai-tools", None, None),
    ],
)
def test_an_agent(name: str, goal: str | None, summary: str | None) -> None:
    [start] = payloads(name, "agent_start")
    [end] = payloads(name, "agent_end")
    assert start["agent_id"] == "weather-agent"
    assert start["session_id"] == f"session-{name}"
    assert (start.get("goal"), end.get("summary")) == (goal, summary)
    assert end["outcome"] == "success"


@pytest.mark.parametrize(
    ("name", "given"),
    [("oi-langchain", "Lisbon"), ("pydantic-ai-logfire-native", {"city": "Lisbon"})],
)
def test_a_tool(name: str, given: Any) -> None:
    [use] = payloads(name, "tool_use")
    [result] = payloads(name, "tool_result")
    assert (use["tool_name"], use["tool_call_id"]) == ("get_weather", "call_first0001")
    assert (result["tool_name"], result["tool_call_id"]) == ("get_weather", "call_first0001")
    assert use["input"] == given
    assert result["output"] == "18 degrees, clear, in Lisbon"


def test_a_model_that_refused() -> None:
    [response] = payloads("otel-openai-broken", "model_response")
    assert response["error"] == "Error code: 400 - the model is broken"
    assert response["error_type"] == "openai.BadRequestError"
    assert not {"content", "role", "input_tokens", "stop_reason"} & response.keys()


def test_one_exception_on_two_spans() -> None:
    [result] = payloads("pydantic-ai-tool-error", "tool_result")
    [end] = payloads("pydantic-ai-tool-error", "agent_end")
    for failed in (result, end):
        assert failed["error"] == "RuntimeError: no station in Lisbon"
        assert failed["error_type"] == "RuntimeError"
        assert failed["traceback"].startswith("Traceback")
    assert end["outcome"] == "failed"
    assert payloads("pydantic-ai-tool-error", "error") == []


def test_the_spans_of_two_packages_report_the_same_thing() -> None:
    [records] = records_of("otel-anthropic")
    models = [span for span in records.spans if kind_of(span) == "model"]
    assert len(models) == 2
    assert len({same_thing(span, "model") for span in models}) == 1
    outer = next(span for span in models if span.scope != models[0].scope)
    assert models[0].parent_id == outer.span_id


def test_pending_spans_have_the_ids_of_the_finished_ones() -> None:
    pending, finished = (events_of(records) for records in records_of("pydantic-ai-logfire-native"))
    assert [event.event_type for event in pending] == ["agent_start", "model_request"]
    by_id = {event.id: event for event in finished}
    for event in pending:
        assert event.pending
        same = by_id[event.id]
        assert (same.ts, same.event_type, same.session_id, same.agent_id) == (
            *(event.ts, event.event_type, event.session_id),
            event.agent_id,
        )


def test_content_that_comes_as_log_records() -> None:
    first, second = payloads("otel-openai-events", "model_content")
    assert first["system"] == SYSTEM
    assert first["messages"] == [{"role": "user", "content": QUESTION}]
    assert first["tool_calls"][0]["name"] == "get_weather"
    assert second["content"] == ANSWER
    spans = {payload["request_id"] for payload in payloads("otel-openai-events", "model_request")}
    assert {first["request_id"], second["request_id"]} == spans


@pytest.mark.parametrize("name", TRACES)
def test_all_content_has_a_field(name: str) -> None:
    """No attribute with content is left among the attributes of a span."""
    for records in records_of(name):
        for span in records.spans:
            left = {key for key in unmapped(span) if kind_of(span) != "other"}
            assert left <= {
                *("input.mime_type", "output.mime_type", "tool.description"),
                *("llm.token_count.total", "model_request_parameters", "gen_ai.agent.call.id"),
                *("model_name", "agent_name", "gen_ai.aggregated_usage.input_tokens"),
                "gen_ai.aggregated_usage.output_tokens",
            }
            assert environment_of(span, records.resources[span.resource]) == "holdout"
