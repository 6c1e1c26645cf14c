"""Request and response schemas of the routes of conversations."""

from typing import Any

from marshmallow import Schema, fields

from shared.conversations.messages import MAX_MESSAGES
from shared.conversations.service import DEFAULT_TITLE, MAX_TITLE_LENGTH
from web.params import Body, Limit, Timestamp, cursor_field, next_cursor_field

_TITLE = {"maxLength": MAX_TITLE_LENGTH, "example": "An example of a title"}
_ANY_JSON = {"description": "any JSON value, including null"}


class ConversationQuery(Schema):
    """A page of conversations."""

    cursor = cursor_field()
    limit = Limit(default=200, cap=1000)


class NewConversationBody(Body):
    """A new conversation."""

    title = fields.String(
        load_default="",
        metadata={
            **_TITLE,
            "description": f"surrounding blanks are removed; {DEFAULT_TITLE!r} if nothing is left",
        },
    )


class RenameBody(Body):
    """A new title."""

    title = fields.String(
        required=True, metadata={**_TITLE, "minLength": 1, "description": "trimmed"}
    )


class ConversationRow(Schema):
    """A conversation without its messages."""

    id = fields.UUID(required=True)
    title = fields.String(required=True)
    created_at = Timestamp(required=True)
    updated_at = Timestamp(
        required=True, metadata={"description": "last change of the title or the messages"}
    )
    message_count = fields.Integer(required=True)


class ConversationList(Schema):
    """Conversations, newest first."""

    conversations = fields.List(fields.Nested(ConversationRow), required=True)
    next_cursor = next_cursor_field()


class Message(Schema):
    """A message of one side."""

    role = fields.String(required=True, metadata={"enum": ["user", "assistant"]})
    content = fields.Raw(required=True, metadata=_ANY_JSON)


class ConversationDetail(Schema):
    """A conversation with its messages."""

    id = fields.UUID(required=True)
    title = fields.String(required=True)
    created_at = Timestamp(required=True)
    updated_at = Timestamp(required=True)
    messages = fields.List(fields.Nested(Message), required=True)


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
