"""Inputs and outputs of tools, in the forms in which the packages write them."""

from typing import Any

from shared.intake.otlp.mapping.forms import unwrapped
from shared.intake.otlp.mapping.parts import content_of
from shared.intake.otlp.mapping.values import decoded, present, text


def result_of(value: Any) -> Any:
    """Returns a value with its JSON text decoded; a serialized message gives its content."""
    value = decoded(value)
    message = _message_in(value)
    if message is not None:
        value = decoded(content_of(message["content"]))
    return present(value)


def call_id_in(value: Any) -> str | None:
    """Returns the id of the call that a serialized message answers."""
    value = decoded(value)
    message = _message_in(value) or value
    return text(message.get("tool_call_id")) if isinstance(message, dict) else None


def _message_in(value: Any) -> dict[str, Any] | None:
    """Returns the message in an object that LangChain has serialized."""
    if not isinstance(value, dict) or not ("lc" in value or "data" in value):
        return None
    message = unwrapped(value)
    return message if message is not value and "content" in message else None
