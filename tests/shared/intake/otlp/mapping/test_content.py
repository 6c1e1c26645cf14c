"""The content of calls of models: spread over attributes, in events, and in several sources."""

import json
from typing import Any

import pytest

from tests.support.otlp_spans import (
    ASKS,
    CALL,
    CALLS,
    FUNCTION,
    RESULT,
    SAYS,
    payloads_of,
    span,
    span_event,
)

FLATTENED = {
    "llm.input_messages.1.message.role": "system",
    "llm.input_messages.1.message.content": "Be terse",
    "llm.input_messages.10.message.role": "user",
    "llm.input_messages.10.message.contents.0.message_content.type": "text",
    "llm.input_messages.10.message.contents.0.message_content.text": "Hi",
    "llm.input_messages.3.message.role": "assistant",
    "llm.input_messages.3.message.tool_calls.0.tool_call.id": "c1",
    "llm.input_messages.3.message.tool_calls.0.tool_call.function.name": "search",
    "llm.input_messages.3.message.tool_calls.0.tool_call.function.arguments": '{"q": "x"}',
    "llm.input_messages.4.message.role": "tool",
    "llm.input_messages.4.message.content": "18",
    "llm.input_messages.4.message.tool_call_id": "c1",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "Hello",
}
TRACELOOP = {
    "gen_ai.prompt.0.role": "system",
    "gen_ai.prompt.0.content": "Be terse",
    "gen_ai.prompt.1.role": "assistant",
    "gen_ai.prompt.1.tool_calls.0.id": "c1",
    "gen_ai.prompt.1.tool_calls.0.name": "search",
    "gen_ai.prompt.1.tool_calls.0.arguments": '{"q": "x"}',
    "gen_ai.prompt.2.role": "tool",
    "gen_ai.prompt.2.content": "18",
    "gen_ai.prompt.2.tool_call_id": "c1",
    "gen_ai.prompt.3.role": "user",
    "gen_ai.prompt.3.content": '[{"type": "text", "text": "Hi"}]',
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.content": "Hello",
    "gen_ai.completion.0.finish_reason": "stop",
}


@pytest.mark.parametrize("told", [FLATTENED, TRACELOOP], ids=["OpenInference", "Traceloop"])
def test_lists_that_are_spread_over_attributes(told: dict[str, str]) -> None:
    request, response = payloads_of(span(told), "model")
    assert request["system"] == "Be terse"
    assert request["messages"] == [*CALLS, *RESULT, *ASKS]
    assert (response["role"], response["content"]) == ("assistant", "Hello")
    assert response["otel"]["attributes"] == {}
    assert response.get("stop_reason") == told.get("gen_ai.completion.0.finish_reason")


def test_instructions_of_their_own_leave_the_messages_alone() -> None:
    messages = json.dumps([{"role": "system", "content": "a"}, *ASKS])
    told = {"gen_ai.input.messages": messages}
    assert payloads_of(span(told), "model")[0]["system"] == "a"
    told["gen_ai.system_instructions"] = '[{"type": "text", "content": "b"}]'
    request = payloads_of(span(told), "model")[0]
    assert request["system"] == "b"
    assert request["messages"] == [{"role": "system", "content": "a"}, *ASKS]


def test_the_messages_of_an_answer_are_one() -> None:
    answer = [
        {"role": "user", "content": "not of the answer"},
        {"role": "assistant", "parts": [{"type": "reasoning", "content": "Hm"}]},
        {
            "role": "assistant",
            "parts": [{"type": "text", "content": "a"}, {"type": "tool_call", **CALL}],
        },
        {"role": "assistant", "content": "b"},
    ]
    response = payloads_of(span({"gen_ai.output.messages": json.dumps(answer)}), "model")[1]
    assert response["content"] == "a\nb"
    assert response["tool_calls"] == [CALL]
    assert response["reasoning"] == "Hm"
    assert response["role"] == "assistant"


def test_text_and_calls_of_one_answer_come_apart() -> None:
    told = {
        "ai.response.text": "Hello",
        "ai.response.toolCalls": '[{"toolCallId": "c1", "toolName": "search", "args": {"q": "x"}}]',
    }
    response = payloads_of(span(told), "model")[1]
    assert (response["content"], response["tool_calls"]) == ("Hello", [CALL])


def test_messages_that_were_cut_off_stay_a_text() -> None:
    broken = '[{"role": "user", "parts": [{"ty'
    assert payloads_of(span({"gen_ai.input.messages": broken}), "model")[0]["messages"] == broken


@pytest.mark.parametrize("name", ["gen_ai.event.content", "event_body", None])
def test_events_of_a_span_are_its_content(name: str | None) -> None:
    def told(event: str, **body: Any) -> Any:
        attributes = body if name is None else {name: json.dumps(body)}
        return span_event(event, **attributes)

    events = [
        told("gen_ai.system.message", content="Be terse"),
        told("gen_ai.user.message", content="Hi"),
        told("gen_ai.assistant.message", tool_calls=[{"id": "c1", "function": FUNCTION}]),
        told("gen_ai.tool.message", content="18", id="c1"),
        told("gen_ai.choice", index=0, finish_reason="stop", message={"content": "Hello"}),
    ]
    request, response = payloads_of(span(events=events), "model")
    assert request["system"] == "Be terse"
    assert request["messages"] == ASKS + CALLS + RESULT
    assert (response["content"], response["role"]) == ("Hello", "assistant")
    assert response["stop_reason"] == "stop"
    assert [event["attributes"] for event in response["otel"]["events"]] == [{}] * 5


def test_other_events_that_are_content() -> None:
    details = span_event(
        "gen_ai.client.inference.operation.details",
        gen_ai__input__messages=ASKS,
        gen_ai__output__messages=SAYS,
        gen_ai__request__model="not of the span",
    )
    told = {"gen_ai.request.model": "m"}
    request, response = payloads_of(span(told, events=[details]), "model")
    assert (request["messages"], response["content"], request["model"]) == (ASKS, "Hello", "m")
    prompt = span_event("gen_ai.content.prompt", gen_ai__prompt=json.dumps(ASKS))
    completion = span_event("gen_ai.content.completion", gen_ai__completion=json.dumps(SAYS))
    request, response = payloads_of(span(events=[prompt, completion]), "model")
    assert (request["messages"], response["content"]) == (ASKS, "Hello")
    start, end = payloads_of(span(events=[prompt, completion]), "agent")
    assert (start["goal"], end["summary"]) == ("Hi", "Hello")


def test_attributes_count_before_events() -> None:
    event = span_event("gen_ai.user.message", content="of an event")
    told = {"pydantic_ai.all_messages": json.dumps(ASKS + SAYS)}
    request, response = payloads_of(span(told, events=[event]), "model")
    assert request["messages"] == ASKS + SAYS
    assert response["content"] == "Hello"
