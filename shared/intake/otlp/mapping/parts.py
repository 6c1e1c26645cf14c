"""The parts of a message's content, in the forms in which the packages send them."""

from typing import Any

from shared.intake.otlp.mapping.values import decoded, text

Message = dict[str, Any]
Part = dict[str, Any]

_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal", "Generation"})
_REASONING_TYPES = frozenset({"reasoning", "thinking", "redacted_thinking"})
_CALL_TYPES = frozenset(
    {"tool_call", "tool-call", "toolCall", "tool_use", "server_tool_use", "function_call"}
    | {"function", "custom_tool_call"}
)
_RESULT_TYPES = frozenset(
    {"tool_call_response", "tool-result", "tool_result", "toolResult", "function_call_output"}
    | {"custom_tool_call_output"}
)
# Parts without a type: the member that has the part, and the type that it means.
_UNTYPED = {
    "functionCall": "function_call",
    "function_call": "function_call",
    "toolUse": "tool_use",
    "functionResponse": "tool_result",
    "function_response": "tool_result",
    "toolResult": "tool_result",
    "reasoningContent": "reasoning",
}

# The names of a member, in the order in which they are tried.
_TEXT = ("text", "content", "refusal")
_REASONING = ("content", "thinking", "text", "reasoning", "reasoningText", "summary")
_CALL_ID = ("call_id", "toolCallId", "toolUseId", "tool_call_id", "id")
_RESULT_ID = ("tool_use_id", "call_id", "toolCallId", "toolUseId", "tool_call_id", "id")
_CALL_NAME = ("name", "toolName", "tool_name")
_ARGUMENTS = ("arguments", "args", "input", "parameters")
_RESULT = ("response", "result", "output", "content")


class Content:
    """The content of one message, sorted: texts, other parts, reasoning, calls and results.

    `parts` are the texts and the other parts in their order, as they were sent.
    """

    __slots__ = ("call_ids", "calls", "is_text", "parts", "reasoning", "results", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.parts: list[Any] = []
        self.is_text = True
        self.reasoning: list[str] = []
        self.calls: list[Part] = []
        self.results: list[Message] = []
        self.call_ids: set[str] = set()

    @property
    def value(self) -> str | list[Any] | None:
        """A text if all parts are texts, else the parts; None without any."""
        if not self.is_text:
            return self.parts
        return "\n".join(self.texts) if self.texts else None

    def take_all(self, value: Any) -> None:
        """Sorts all parts of a message's content in."""
        if value is not None:
            for part in value if isinstance(value, list) else [value]:
                self.take(part)

    def take(self, part: Any) -> None:
        """Sorts one part in."""
        if isinstance(part, str):
            self._take_text(part, part)
            return
        if not isinstance(part, dict):
            self._take_other(part)
            return
        kind, part = _typed(part)
        if kind in _TEXT_TYPES and type(found := first(part, _TEXT)) is str:
            self._take_text(found, part)
        elif kind in _CALL_TYPES:
            self.take_call(part)
        elif kind in _RESULT_TYPES:
            self.results.append(_result(part))
        elif kind in _REASONING_TYPES:
            self.reasoning += _texts(first(part, _REASONING))
        else:
            self._take_other(part)

    def take_call(self, raw: Any) -> None:
        """Adds a call of a tool, unless it is there already."""
        call = call_of(raw)
        if call is None:
            return
        identifier = call.get("id")
        if identifier is None or identifier not in self.call_ids:
            self.calls.append(call)
        if identifier is not None:
            self.call_ids.add(identifier)

    def _take_text(self, found: str, part: Any) -> None:
        self.texts.append(found)
        self.parts.append(part)

    def _take_other(self, part: Any) -> None:
        self.is_text = False
        self.parts.append(part)


def call_of(raw: Any) -> Part | None:
    """Returns a call as `{id, name, arguments}`, absent ones left out; None if it is no call."""
    raw = decoded(raw)
    if not isinstance(raw, dict):
        return None
    if isinstance(inner := raw.get("tool_call"), dict):
        raw = inner
    function = raw.get("function")
    named = function if isinstance(function, dict) else raw
    call: Part = {}
    if (identifier := text(first(raw, _CALL_ID))) is not None:
        call["id"] = identifier
    if (name := text(first(named, _CALL_NAME))) is not None:
        call["name"] = name
    if (arguments := first(named, _ARGUMENTS)) is not None:
        call["arguments"] = decoded(arguments)
    return call or None


def is_result(part: Any) -> bool:
    """Returns whether a part is the result of a tool."""
    return isinstance(part, dict) and _typed(part)[0] in _RESULT_TYPES


def first(raw: Part, names: tuple[str, ...]) -> Any:
    """Returns the first member that is there and not null."""
    for name in names:
        value = raw.get(name)
        if value is not None:
            return value
    return None


def _typed(part: Part) -> tuple[str, Part]:
    """Returns the type of a part and the part itself, without what some packages wrap it in."""
    kind = part.get("type")
    if type(kind) is str:
        return kind, part
    if isinstance(inner := part.get("message_content"), dict):
        return _typed(inner) if "message_content" not in inner else ("", inner)
    for member, meant in _UNTYPED.items():
        if isinstance(inner := part.get(member), dict):
            return meant, inner
    if "toolCallId" in part:
        return ("tool-result" if "result" in part or "output" in part else "tool-call", part)
    return ("text" if "text" in part else "", part)


def _result(part: Part) -> Message:
    message: Message = {"role": "tool"}
    value = first(part, _RESULT)
    if isinstance(value, dict) and "value" in value and "type" in value:
        value = value["value"]
    if value is not None:
        message["content"] = content_of(value)
    if (identifier := text(first(part, _RESULT_ID))) is not None:
        message["tool_call_id"] = identifier
    if (name := text(first(part, _CALL_NAME))) is not None:
        message["name"] = name
    return message


def content_of(value: Any) -> str | list[Any]:
    """Returns a text for a text or a list of texts, else the list of parts."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return [value]
    texts = _texts(value)
    return "\n".join(texts) if len(texts) == len(value) else value


def _texts(value: Any) -> list[str]:
    """Returns the texts of a text, of a part, or of those in a list."""
    if isinstance(value, list):
        return [found for part in value for found in _texts_of_part(part)]
    return _texts_of_part(value)


def _texts_of_part(part: Any) -> list[str]:
    found = first(part, _TEXT) if isinstance(part, dict) else part
    return [found] if type(found) is str else []
