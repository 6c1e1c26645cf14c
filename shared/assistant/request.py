"""The request of a turn: the thread, the page that the person looks at, and what it can show."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from shared.assistant.limits import MAX_MESSAGES, MAX_QUESTION_CHARS, MAX_REQUEST_BYTES
from shared.foundation.core.errors import BadRequest, Invalid, TooLarge
from shared.foundation.core.json_words import in_json_words

_MAX_CONTEXT_CHARS = 4000


class MessageContent(msgspec.Struct):
    """The content of a message; other members are ignored."""

    text: str = ""


class ThreadMessage(msgspec.Struct):
    """A message of the thread."""

    role: Literal["user", "assistant"]
    content: MessageContent


class TurnRequest(msgspec.Struct, rename="camel"):
    """The body of a request; other members are ignored."""

    messages: Annotated[list[ThreadMessage], Meta(min_length=1, max_length=MAX_MESSAGES)]
    conversation_id: str | None = None
    page_context: Any = None
    model: str | None = None
    page_actions: Annotated[list[str], Meta(max_length=20)] = []

    @property
    def context(self) -> str:
        """Returns the page's description as JSON text; empty if there is none."""
        if self.page_context is None:
            return ""
        return msgspec.json.encode(self.page_context).decode()[:_MAX_CONTEXT_CHARS]


def read_request(body: bytes) -> TurnRequest:
    """Reads the body of a request.

    Raises `TooLarge`, `BadRequest` for text that is not JSON, and `Invalid` naming the field.
    """
    if len(body) > MAX_REQUEST_BYTES:
        raise TooLarge(f"a request to the assistant has at most {MAX_REQUEST_BYTES} bytes")
    try:
        found = msgspec.json.decode(body, type=TurnRequest)
    except msgspec.ValidationError as error:
        path, reason = in_json_words(error)
        raise Invalid.field(path or "body", reason) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadRequest("the body is not JSON", code="malformed_json") from None
    last = found.messages[-1]
    if last.role != "user" or not last.content.text.strip():
        raise Invalid.field("messages", "must end with a question of the user")
    if len(last.content.text) > MAX_QUESTION_CHARS:
        raise Invalid.field("messages", f"a question has at most {MAX_QUESTION_CHARS} characters")
    return found
