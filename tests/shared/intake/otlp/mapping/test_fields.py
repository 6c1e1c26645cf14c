"""Every attribute that a field of an event can come from, one by one."""

from itertools import pairwise
from typing import Any

import pytest

from shared.intake.otlp.mapping import Role
from tests.support.otlp_spans import SPAN_ID, payloads_of, span

USAGE = "langfuse.observation.usage_details"

# role, position of the event (0 start, 1 end), field, its attributes in their order
TEXTS: list[tuple[Role, int, str, list[str]]] = [
    (
        "model",
        0,
        "model",
        [
            "gen_ai.request.model",
            "llm.request.model_name",
            "llm.model_name",
            "ai.model.id",
            "langfuse.observation.model.name",
        ],
    ),
    (
        "model",
        1,
        "model",
        [
            "gen_ai.response.model",
            "llm.response.model_name",
            "llm.model_name",
            "ai.response.model",
            "langfuse.observation.model.name",
            "gen_ai.request.model",
        ],
    ),
    (
        "model",
        1,
        "stop_reason",
        ["llm.finish_reason", "anthropic.message.stop_reason", "ai.response.finishReason"],
    ),
    ("model", 1, "response_id", ["gen_ai.response.id", "ai.response.id"]),
    (
        "tool",
        1,
        "tool_name",
        ["gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name"],
    ),
    (
        "tool",
        0,
        "tool_call_id",
        ["gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id"],
    ),
    (
        "tool",
        0,
        "input",
        [
            "gen_ai.tool.call.arguments",
            "input.value",
            "ai.toolCall.args",
            "traceloop.entity.input",
            "langfuse.observation.input",
            "tool.parameters",
        ],
    ),
    (
        "tool",
        1,
        "output",
        [
            "gen_ai.tool.call.result",
            "output.value",
            "ai.toolCall.result",
            "traceloop.entity.output",
            "langfuse.observation.output",
        ],
    ),
    (
        "agent",
        0,
        "user_id",
        [
            "user.id",
            "enduser.id",
            "langfuse.user.id",
            "traceloop.association.properties.user_id",
            "ai.telemetry.metadata.userId",
        ],
    ),
    (
        "agent",
        0,
        "goal",
        [
            "gen_ai.input.messages",
            "ai.prompt.messages",
            "langfuse.observation.input",
            "input.value",
            "pydantic_ai.all_messages",
            "gen_ai.tool.call.arguments",
            "traceloop.entity.input",
            "ai.prompt",
        ],
    ),
    (
        "agent",
        1,
        "summary",
        [
            "gen_ai.output.messages",
            "ai.response.text",
            "langfuse.observation.output",
            "output.value",
            "traceloop.entity.output",
            "final_result",
        ],
    ),
]
NUMBERS = {
    "input_tokens": [
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.prompt_tokens",
        "llm.token_count.prompt",
        "ai.usage.inputTokens",
    ],
    "output_tokens": [
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
        "llm.token_count.completion",
        "ai.usage.outputTokens",
    ],
    "cache_read_tokens": [
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "llm.token_count.prompt_details.cache_read",
        "ai.usage.cachedInputTokens",
    ],
    "cache_write_tokens": [
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_write.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "llm.token_count.prompt_details.cache_write",
    ],
    "reasoning_tokens": [
        "gen_ai.usage.reasoning.output_tokens",
        "gen_ai.usage.reasoning_tokens",
        "llm.token_count.completion_details.reasoning",
        "ai.usage.reasoningTokens",
    ],
}
EACH = [(role, at, field, attribute) for role, at, field, names in TEXTS for attribute in names]


@pytest.mark.parametrize(("role", "at", "field", "attribute"), EACH)
def test_a_text(role: Role, at: int, field: str, attribute: str) -> None:
    payloads = payloads_of(span({attribute: "told"}), role)
    assert payloads[at][field] == "told"
    assert attribute not in payloads[1]["otel"]["attributes"]


@pytest.mark.parametrize(("role", "at", "field", "names"), TEXTS)
def test_the_first_text_counts(role: Role, at: int, field: str, names: list[str]) -> None:
    for before, after in pairwise(names):
        told = {after: "second", before: "first"}
        payload = payloads_of(span(told), role)[at]
        assert payload[field] == "first", (before, after)
        assert payloads_of(span({**told, before: ""}), role)[at][field] == "second"


@pytest.mark.parametrize(
    ("field", "attribute"), [(field, name) for field, names in NUMBERS.items() for name in names]
)
def test_a_number_of_tokens(field: str, attribute: str) -> None:
    start, end = payloads_of(span({attribute: 12}), "model")
    assert end[field] == 12
    assert attribute not in end["otel"]["attributes"]
    assert field not in start
    for other in (-1, 1.5, True, "many", None, [12], {"value": 12}):
        assert field not in payloads_of(span({attribute: other}), "model")[1]
    for same in (12.0, "12"):
        assert payloads_of(span({attribute: same}), "model")[1][field] == 12


@pytest.mark.parametrize("names", NUMBERS.values())
def test_the_first_number_counts(names: list[str]) -> None:
    field = next(field for field, listed in NUMBERS.items() if listed == names)
    for before, after in pairwise(names):
        assert payloads_of(span({after: 2, before: 1}), "model")[1][field] == 1


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"input": 10, "output": 5}, (10, 5, None, None, None)),
        ({"prompt_tokens": 10, "completion_tokens": 5}, (10, 5, None, None, None)),
        (
            {"input": 10, "output": 5, "cache_read_input_tokens": 2, "output_reasoning_tokens": 1},
            (12, 5, 2, None, 1),
        ),
        ({"input": 10, "cache_creation_input_tokens": 3}, (13, None, None, 3, None)),
        ({"input": 10, "input_cached_tokens": 4}, (14, None, 4, None, None)),
        ([1], (None, None, None, None, None)),
        ({"input": "x", "output": -1}, (None, None, None, None, None)),
    ],
)
@pytest.mark.parametrize("as_text", [True, False])
def test_the_usage_of_langfuse(usage: Any, tokens: tuple[int | None, ...], as_text: bool) -> None:
    value = str(usage).replace("'", '"') if as_text else usage
    end = payloads_of(span({USAGE: value}), "model")[1]
    assert tuple(end.get(field) for field in NUMBERS) == tokens
    assert USAGE not in end["otel"]["attributes"]


def test_input_is_all_that_was_read() -> None:
    """A sender that counts cached tokens apart has more of them than input."""
    cached = {"gen_ai.usage.cache_read.input_tokens": 90, "gen_ai.usage.input_tokens": 100}
    assert payloads_of(span(cached), "model")[1]["input_tokens"] == 100
    apart = {**cached, "gen_ai.usage.cache_creation.input_tokens": 20}
    assert payloads_of(span(apart), "model")[1]["input_tokens"] == 210


@pytest.mark.parametrize(
    "reasons",
    [["stop", "length"], '["stop"]', "stop", ["stop"]],
    ids=["two", "JSON", "text", "one"],
)
def test_the_first_finish_reason_is_the_stop_reason(reasons: Any) -> None:
    told = {"gen_ai.response.finish_reasons": reasons, "llm.finish_reason": "other"}
    assert payloads_of(span(told), "model")[1]["stop_reason"] == "stop"


def test_the_output_message_may_tell_the_stop_reason() -> None:
    told = {
        "gen_ai.output.messages": '[{"role": "assistant", "parts": [], "finish_reason": "length"}]',
        "anthropic.message.stop_reason": "max_tokens",
    }
    assert payloads_of(span(told), "model")[1]["stop_reason"] == "length"
    assert (
        payloads_of(span({**told, "llm.finish_reason": "stop"}), "model")[1]["stop_reason"]
        == "stop"
    )


def test_a_span_without_a_tool_name_or_a_call_id() -> None:
    use, result = payloads_of(span(name="execute_tool search"), "tool")
    assert use["tool_name"] == result["tool_name"] == "search"
    assert use["tool_call_id"] == result["tool_call_id"] == SPAN_ID


def test_the_message_that_answers_a_call_has_its_id() -> None:
    output = '{"type": "tool", "data": {"content": "18 degrees", "tool_call_id": "call_1"}}'
    use, result = payloads_of(span({"output.value": output}), "tool")
    assert use["tool_call_id"] == result["tool_call_id"] == "call_1"
    assert result["output"] == "18 degrees"
    told = {"output.value": output, "tool_call.id": "call_2"}
    assert payloads_of(span(told), "tool")[0]["tool_call_id"] == "call_2"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"city": "Lisbon"}', {"city": "Lisbon"}),
        (' ["a", 1]', ["a", 1]),
        ('"a text"', "a text"),
        ("18", "18"),
        ("true", "true"),
        ('{"city": "Lis', '{"city": "Lis'),
        ("[INFO] done", "[INFO] done"),
        ("Lisbon", "Lisbon"),
        ('{"n": 1e999}', '{"n": 1e999}'),
        ('"\\ud800"', '"\\ud800"'),
        ("[" * 5000, "[" * 5000),
        ('{"lc": 1, "id": ["m", "ToolMessage"], "kwargs": {"content": "[1]"}}', [1]),
        ({"city": "Lisbon"}, {"city": "Lisbon"}),
        (0, 0),
        (False, False),
    ],
)
def test_json_text_is_decoded(text: Any, value: Any) -> None:
    use = payloads_of(span({"input.value": text}), "tool")[0]
    result = payloads_of(span({"output.value": text}), "retrieval")[1]
    assert use["input"] == result["output"] == value


def test_a_schema_is_no_input_where_there_is_one() -> None:
    told = {"tool.parameters": '{"type": "object"}', "input.value": "Lisbon"}
    assert payloads_of(span(told), "tool")[0]["input"] == "Lisbon"


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("gen_ai.tool.definitions", '[{"name": "a"}, {"name": "b"}]'),
        ("gen_ai.tool.definitions", [{"name": "a"}, {"name": "b"}]),
        ("ai.prompt.tools", ['{"name": "a"}', '{"name": "b"}']),
    ],
)
def test_tools(attribute: str, value: Any) -> None:
    request = payloads_of(span({attribute: value}), "model")[0]
    assert request["tools"] == [{"name": "a"}, {"name": "b"}]


def test_flattened_tools() -> None:
    told = {
        "llm.tools.3.tool.json_schema": '{"name": "b"}',
        "llm.tools.1.tool.json_schema": '{"name": "a"}',
    }
    assert payloads_of(span(told), "model")[0]["tools"] == [{"name": "a"}, {"name": "b"}]


@pytest.mark.parametrize("value", ["", None, [], {}, "[]"])
def test_nothing_is_left_out(value: Any) -> None:
    told = dict.fromkeys(["gen_ai.input.messages", "gen_ai.output.messages"], value)
    told |= dict.fromkeys(["gen_ai.tool.definitions", "gen_ai.system_instructions"], value)
    request, response = payloads_of(span(told), "model")
    empty = {"messages", "system", "tools", "content", "role", "tool_calls", "reasoning"}
    assert not empty & (request.keys() | response.keys())
