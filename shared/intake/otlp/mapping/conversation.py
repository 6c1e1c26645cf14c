"""Builds the question and the answer of an agent or a model from the values of its span."""

from collections.abc import Callable
from typing import Any

import msgspec

from shared.intake.otlp.mapping.messages import (
    MessageReader,
    joined,
    last_text,
    leading_instructions,
    read_messages,
)
from shared.intake.otlp.mapping.reader import AttributeLookup
from shared.intake.otlp.mapping.values import amount, decoded, present, text, word

# The fields of usage that are no numbers of at least 0.
_CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "provider": word,
    "service_tier": word,
    "cost_usd": amount,
}


def model_values(found: AttributeLookup) -> dict[str, Any]:
    """Returns the values of the events of a call of a model."""
    values: dict[str, Any] = {
        "request_model": found.first("request_model", text),
        "model": found.first("response_model", text) or found.first("request_model", text),
        "response_id": found.first("response_id", text),
        "tools": tools_of(found),
    }
    for field in found.usage:
        if field in _CONVERTERS:
            values[field] = found.first(field, _CONVERTERS[field])
        else:
            values[field] = found.total(field)
    values["input_tokens"] = _input_tokens(values)
    add_request(values, found)
    answer = read_field(found, "output_messages", "assistant")
    add_answer(values, answer)
    values["stop_reason"] = stop_reason(found, answer)
    return values


def agent_values(found: AttributeLookup) -> dict[str, Any]:
    """Returns the goal and the summary of an agent, as far as its span tells them."""
    asked = read_field(found, "input_messages", "user").messages
    answered = read_field(found, "output_messages", "assistant").messages
    prompt = found.first("prompt", present)
    return {
        "goal": last_text(asked, "user")
        or found.first("input", _as_text)
        or last_text(read_messages(prompt, "user").messages, "user")
        or _as_text(prompt),
        "summary": last_text(answered, "assistant")
        or found.first("output", _as_text)
        or found.first("result", _as_text),
        "user_id": found.first("user_id", text),
    }


def read_field(found: AttributeLookup, field: str, role: str) -> MessageReader:
    """Reads the messages of the first source that has any."""
    reader = MessageReader()
    for values in found.groups(field):
        for value in values:
            reader.read(value, role)
        if reader.messages:
            break
    return reader


def add_request(values: dict[str, Any], found: AttributeLookup) -> None:
    """Adds `messages` and `system`.

    Leading instructions are the system text, unless there is a text of its own; then they stay.
    """
    messages = read_field(found, "input_messages", "user").messages
    system = found.first("system", _content)
    if system is None and messages:
        leading = leading_instructions(messages)
        system = joined([message.get("content") for message in messages[:leading]])
        messages = messages[leading:]
    values["system"] = system
    if len(messages) == 1 and _is_broken(messages[0].get("content")):
        values["messages"] = messages[0]["content"]
    else:
        values["messages"] = messages or None


def add_answer(values: dict[str, Any], answer: MessageReader) -> None:
    """Adds the messages of the assistant that stand last, as one."""
    messages = answer.messages
    if not messages:
        return
    role = messages[-1]["role"]
    first = len(messages) - 1
    while first and messages[first - 1]["role"] == role:
        first -= 1
    last = messages[first:]
    values["role"] = role
    values["content"] = joined([message.get("content") for message in last])
    values["tool_calls"] = [call for m in last for call in m.get("tool_calls", ())] or None
    values["reasoning"] = joined([message.get("reasoning") for message in last])


def stop_reason(found: AttributeLookup, answer: MessageReader) -> str | None:
    """Returns the reason why a model stopped, as it was sent."""
    return (
        found.first("stop_reason", text)
        or answer.stop_reason
        or found.first("later_stop_reason", text)
    )


def tools_of(found: AttributeLookup) -> Any:
    """Returns the tools that a model may call, each as the object that was sent."""
    return found.first("tools", _tools)


def _tools(value: Any) -> Any:
    value = decoded(value)
    if not isinstance(value, list):
        return present(value)
    return [_schema(tool) for tool in value] or None


def _schema(tool: Any) -> Any:
    tool = decoded(tool)
    if isinstance(tool, dict) and isinstance(inner := tool.get("tool"), dict):
        tool = inner
    if isinstance(tool, dict) and "json_schema" in tool:
        tool = decoded(tool["json_schema"])
    return tool


def _input_tokens(values: dict[str, Any]) -> int | None:
    """Returns all tokens that were read, cached or not.

    Where the cached ones exceed the input, the sender did not count them as input.
    """
    tokens: int | None = values.get("input_tokens")
    if tokens is None:
        return None
    cached: int = (values.get("cache_read_tokens") or 0) + (values.get("cache_write_tokens") or 0)
    return tokens + cached if cached > tokens else tokens


def _content(value: Any) -> Any:
    return joined([message.get("content") for message in read_messages(value, "system").messages])


def _is_broken(content: Any) -> bool:
    """Returns whether a text was meant to be JSON and is none, because it was cut off."""
    return type(content) is str and content[:2] in ("[{", '{"')


def _as_text(value: Any) -> str | None:
    if value is None or type(value) is str:
        return value or None
    return msgspec.json.encode(value).decode()
