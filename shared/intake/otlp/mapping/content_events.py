"""Content that comes as events: of a span, or as log records."""

from itertools import chain
from typing import Any

from shared.intake.otlp.mapping.messages import MessageReader
from shared.intake.otlp.mapping.reader import AttributeLookup, read
from shared.intake.otlp.mapping.tables import Role
from shared.intake.otlp.mapping.values import decoded
from shared.intake.otlp.records import SpanEvent

CHOICE = "gen_ai.choice"
_MESSAGE_PREFIX, _MESSAGE_SUFFIX = "gen_ai.", ".message"
_DETAILS_SUFFIX = ".operation.details"
# Attributes that hold a whole message, by some packages and earlier conventions.
_BODIES = ("gen_ai.event.content", "event_body", "gen_ai.prompt", "gen_ai.completion")
# The members of a message, where they are attributes of its event.
MESSAGE_ATTRIBUTES = frozenset(
    {*_BODIES, "role", "content", "tool_calls", "id", "name", "message", "finish_reason"}
)
_OLD_CONTENT = {
    "gen_ai.content.prompt": "input_messages",
    "gen_ai.content.completion": "output_messages",
}
# The fields that an event with the whole content of a call fills.
_DETAILS = ("input_messages", "output_messages", "system", "tools")


def is_message(name: str) -> bool:
    """Returns whether an event is one message."""
    return name == CHOICE or (name.startswith(_MESSAGE_PREFIX) and name.endswith(_MESSAGE_SUFFIX))


def is_details(name: str) -> bool:
    """Returns whether an event has the whole content of a call."""
    return name.startswith(_MESSAGE_PREFIX) and name.endswith(_DETAILS_SUFFIX)


def is_content(name: str) -> bool:
    """Returns whether an event of a span is content of the span."""
    return is_message(name) or is_details(name) or name in _OLD_CONTENT


def add_content(found: AttributeLookup, role: Role, events: list[SpanEvent]) -> None:
    """Adds what the events of a span tell of its content, behind what its attributes tell."""
    asked: list[Any] = []
    answered: list[Any] = []
    for event in events:
        if is_details(event.name):
            details = read(role, event.attributes)
            for field in _DETAILS:
                for value in chain.from_iterable(details.groups(field)):
                    found.add_later(field, value)
        elif is_message(event.name):
            message = message_in(event.name, event.attributes)
            (answered if event.name == CHOICE else asked).append(message)
        elif event.name in _OLD_CONTENT:
            found.add_later(_OLD_CONTENT[event.name], _body(event.attributes))
    if asked:
        found.add_later("input_messages", asked)
    if answered:
        found.add_later("output_messages", answered)


def message_in(name: str, attributes: dict[str, Any]) -> dict[str, Any]:
    """Returns the message of an event as `MessageReader` reads it; the name tells its role."""
    body = _body(attributes)
    message = body if isinstance(body, dict) else {**attributes, "content": body}
    if isinstance(inner := decoded(message.get("message")), dict):
        message = {**message, "message": inner}
    return {"role": role_in(name), **message}


def role_in(name: str) -> str:
    """Returns the role that the name of a message event tells: `gen_ai.user.message`."""
    if name == CHOICE:
        return "assistant"
    return name.removeprefix(_MESSAGE_PREFIX).removesuffix(_MESSAGE_SUFFIX) or "user"


def read_message(name: str, attributes: dict[str, Any]) -> MessageReader:
    """Reads the one message of an event."""
    reader = MessageReader()
    reader.read_message(message_in(name, attributes), role_in(name))
    return reader


def _body(attributes: dict[str, Any]) -> Any:
    for name in _BODIES:
        if name in attributes:
            return decoded(attributes[name])
    return attributes
