"""Request and response schemas of the routes of conversations."""

from typing import Any

from marshmallow import Schema

from shared.assistant.conversations.messages import MAX_MESSAGES
from shared.assistant.conversations.service import DEFAULT_TITLE, MAX_TITLE_LENGTH
from web import fields
from web.params import Body, Limit

_TITLE: fields.Details = {"maxLength": MAX_TITLE_LENGTH, "example": "An example of a title"}
_ANY_JSON: fields.Details = {"description": "any JSON value, including null"}


class ConversationQuery(Schema):
    """A page of conversations."""

    cursor = fields.cursor()
    limit = Limit(default=200, cap=1000)


class NewConversationBody(Body):
    """A new conversation."""

    title = fields.text(
        f"surrounding blanks are removed; {DEFAULT_TITLE!r} if nothing is left",
        load_default="",
        **_TITLE,
    )


class RenameBody(Body):
    """A new title."""

    title = fields.text("trimmed", **_TITLE, minLength=1)


class ConversationRow(Schema):
    """A conversation without its messages."""

    id = fields.uuid()
    title = fields.text()
    created_at = fields.moment()
    updated_at = fields.moment("last change of the title or the messages")
    message_count = fields.integer()


class ConversationList(Schema):
    """Conversations, newest first."""

    conversations = fields.rows(ConversationRow)
    next_cursor = fields.next_cursor()


class Message(Schema):
    """A message of one side."""

    role = fields.text(enum=["user", "assistant"])
    content = fields.raw(**_ANY_JSON)


class ConversationDetail(Schema):
    """A conversation with its messages."""

    id = fields.uuid()
    title = fields.text()
    created_at = fields.moment()
    updated_at = fields.moment()
    messages = fields.rows(Message)


# The body of PUT …/messages as an OpenAPI schema. Contents are stored undecoded, so no marshmallow
# schema reads them.
MESSAGES: dict[str, Any] = {
    "type": "object",
    "required": ["messages"],
    "properties": {
        "messages": {
            "type": "array",
            "maxItems": MAX_MESSAGES,
            "items": {
                "type": "object",
                "required": ["role", "content"],
                "properties": {
                    "role": {"type": "string", "enum": ["user", "assistant"]},
                    "content": _ANY_JSON,
                },
            },
        }
    },
}
