"""One shape for the messages of all senders.

A message is `{role, content, tool_calls: [{id, name, arguments}], tool_call_id, name, reasoning}`
without the members that are absent. `content` is a text if all its parts are texts (joined by line
breaks), else the list of parts. The result of a tool is a message of the role `tool`.
"""

from dataclasses import dataclass, field
from typing import Any

from shared.intake.otlp.mapping.forms import (
    WRAPPERS,
    is_message,
    is_pair,
    is_part,
    is_plain,
    role_of,
    unwrapped,
)
from shared.intake.otlp.mapping.parts import Content, Message, first, is_result
from shared.intake.otlp.mapping.values import decoded, text

# Lists within lists within bodies of requests; deeper nesting is content.
_MAX_DEPTH = 8
_CONTENT_MEMBERS = frozenset({"content", "text", "tool_calls", "toolCalls"})
# The members of a body that hold its messages, and the role of messages that name none.
_INSTRUCTIONS = ("system", "instructions", "systemInstruction", "system_instruction")
_BODIES: tuple[tuple[str, str | None], ...] = (
    ("messages", None),
    ("choices", "assistant"),
    ("generations", "assistant"),
    ("candidates", "assistant"),
    ("message", None),
    ("contents", None),
    ("prompt", None),
    ("input", None),
    ("output", "assistant"),
)
_CALLS = ("tool_calls", "toolCalls")
_CALL_ID = ("tool_call_id", "toolCallId", "id")
_FINISH = ("finish_reason", "stop_reason", "finishReason", "stopReason", "generation_info")
_REASONING = ("reasoning_content", "reasoning", "thinking")
_PART_TEXT = ("content", "text")
_MORE = "additional_kwargs"
_DETAILS = "response_metadata"
# Most messages have none of these members; one look finds that out.
_WRAPPED = frozenset(WRAPPERS)
_WITH_STOP = frozenset({*_FINISH, _DETAILS})
_WITH_CALLS = frozenset({*_CALLS, "function_call"})
_WITH_REASONING = frozenset({*_REASONING, _MORE})
_NO_CONTENT = frozenset({"role", "name"})
_UNUSUAL = frozenset({*_WITH_CALLS, *_CALL_ID, *_WITH_REASONING, "contents", "text"})


@dataclass(slots=True)
class MessageReader:
    """The messages that were read, and the reason why the model stopped if they tell it."""

    messages: list[Message] = field(default_factory=list)
    stop_reason: str | None = None

    def read(self, value: Any, role: str, depth: int = 0) -> None:
        """Reads messages in any form; `role` is that of messages that name none."""
        if type(value) is str:
            value = decoded(value)
        if isinstance(value, list) and depth < _MAX_DEPTH:
            self._read_list(value, role, depth + 1)
        elif isinstance(value, dict) and depth < _MAX_DEPTH:
            self._read_object(value, role, depth + 1)
        elif value is not None and value != "":
            self.messages.append({"role": role, "content": _plain(value)})

    def _read_list(self, values: list[Any], role: str, depth: int) -> None:
        if is_pair(values):
            self.read_message({"role": values[0], "content": values[1]}, role)
            return
        loose: list[Any] = []
        for value in values:
            if not loose and type(value) is dict and "role" in value:
                self.read_message(value, role)
                continue
            is_loose = type(value) is str or (isinstance(value, dict) and is_part(value))
            if loose and not (is_loose and is_result(value) == is_result(loose[-1])):
                self.read_message({"content": loose}, role)
                loose = []
            if is_loose:
                loose.append(value)
            else:
                self.read(value, role, depth)
        if loose:
            self.read_message({"content": loose}, role)

    def _read_object(self, value: dict[str, Any], role: str, depth: int) -> None:
        if is_message(value):
            self.read_message(value, role)
            return
        if is_part(value):
            self.read_message({"content": [value]}, role)
            return
        self._note_stop(value)
        system = first(value, _INSTRUCTIONS)
        for name, its_role in _BODIES:
            inner = value.get(name)
            if inner is not None and inner != []:
                if system is not None:
                    self.read(system, "system", depth)
                self.read(inner, its_role or role, depth)
                return
        if not _CONTENT_MEMBERS.isdisjoint(value):
            self.read_message(value, role)
        elif value:
            self.messages.append({"role": role, "content": [value]})

    def read_message(self, raw: dict[str, Any], role: str) -> None:
        """Reads one message; results of tools in it become messages of their own before it."""
        if len(raw) == 2 and is_plain(raw):
            if raw["content"]:
                self.messages.append({"role": raw["role"], "content": raw["content"]})
        else:
            self._read_other(raw, role)

    def _read_other(self, raw: dict[str, Any], role: str) -> None:
        self._note_stop(raw)
        if not _WRAPPED.isdisjoint(raw):
            raw = unwrapped(raw)
            self._note_stop(raw)
        role = role_of(raw, role)
        value = _content_in(raw)
        if type(value) is str and _UNUSUAL.isdisjoint(raw):
            if value:
                message = {"role": role, "content": value}
                _add_name(message, raw)
                self.messages.append(message)
            return
        content = Content()
        content.take_all(value)
        _take_calls(content, raw)
        if role == "tool":
            for result in content.results:
                if "name" not in result:
                    _add_name(result, raw)
        self.messages += content.results
        if content.calls and "role" not in raw:
            role = "assistant"
        message = _message(raw, role, content)
        if not message.keys() <= _NO_CONTENT:
            self.messages.append(message)

    def _note_stop(self, raw: dict[str, Any]) -> None:
        if _WITH_STOP.isdisjoint(raw):
            return
        found = first(raw, _FINISH)
        if isinstance(found, dict):
            found = first(found, _FINISH)
        if type(found) is str and found:
            self.stop_reason = found
        elif isinstance(details := raw.get(_DETAILS), dict):
            self._note_stop(details)


def read_messages(value: Any, role: str) -> MessageReader:
    """Reads the messages in a value of any form; `role` is that of messages that name none."""
    reader = MessageReader()
    reader.read(value, role)
    return reader


def last_text(messages: list[Message], role: str) -> str | None:
    """Returns the text of the last message of a role that has one."""
    for message in reversed(messages):
        if message.get("role") == role:
            found = text_of(message)
            if found:
                return found
    return None


def text_of(message: Message) -> str | None:
    """Returns the text of a message, without its other parts."""
    value = message.get("content")
    if isinstance(value, list):
        content = Content()
        for part in value:
            content.take(part)
        return "\n".join(content.texts) or None
    return value if isinstance(value, str) else None


def leading_instructions(messages: list[Message]) -> int:
    """Returns how many messages of the roles system and developer stand first."""
    for index, message in enumerate(messages):
        if message.get("role") not in ("system", "developer"):
            return index
    return len(messages)


def joined(contents: list[Any]) -> str | list[Any] | None:
    """Returns contents as one: texts joined by line breaks, else all parts in their order."""
    found = [content for content in contents if content]
    if not found:
        return None
    if len(found) == 1 and type(found[0]) is str:
        return found[0]
    if all(type(content) is str for content in found):
        return "\n".join(found)
    return [part for c in found for part in (c if isinstance(c, list) else [c])]


def _message(raw: dict[str, Any], role: str, content: Content) -> Message:
    message: Message = {"role": role}
    value = content.value
    if value:
        message["content"] = value
    if content.calls:
        message["tool_calls"] = content.calls
    if role == "tool" and (identifier := text(first(raw, _CALL_ID))) is not None:
        message["tool_call_id"] = identifier
    _add_name(message, raw)
    if not _WITH_REASONING.isdisjoint(raw):
        reasoning = first(raw, _REASONING)
        if reasoning is None and isinstance(more := raw.get(_MORE), dict):
            reasoning = first(more, _REASONING)
        if type(reasoning) is str and reasoning:
            content.reasoning.append(reasoning)
    if content.reasoning:
        message["reasoning"] = "\n".join(content.reasoning)
    return message


def _add_name(message: Message, raw: dict[str, Any]) -> None:
    name = raw.get("name")
    if name and type(name) is str:
        message["name"] = name


def _content_in(raw: dict[str, Any]) -> Any:
    """Returns the content of a message, as a text if it is one text."""
    value = first(raw, ("parts", "content", "contents", "text"))
    if isinstance(value, dict) and isinstance(value.get("parts"), list):
        value = value["parts"]
    if type(value) is str:
        return _parts_in(value) if value[:1] == "[" else value
    if type(value) is list and len(value) == 1:
        part = value[0]
        if type(part) is dict and part.get("type") == "text":
            found = first(part, _PART_TEXT)
            return found if type(found) is str else value
    return value


def _parts_in(value: str) -> Any:
    """Returns the parts in JSON text of a list of parts, and any other text as it is."""
    parts = decoded(value)
    if type(parts) is list and parts and all(type(p) is dict and is_part(p) for p in parts):
        return parts
    return value


def _take_calls(content: Content, raw: dict[str, Any]) -> None:
    if _WITH_CALLS.isdisjoint(raw):
        return
    for name in _CALLS:
        calls = decoded(raw.get(name))
        for call in calls if isinstance(calls, list) else [calls]:
            content.take_call(call)
    content.take_call(raw.get("function_call"))


def _plain(value: Any) -> str | list[Any]:
    return value if type(value) is str else [value]
