"""Conversations with the assistant. Each is visible only to its owner."""

from typing import Any

import msgspec
from flask import Response

from shared.assistant.conversations import service as conversations
from shared.assistant.conversations.messages import read_thread
from shared.assistant.conversations.models import Conversation
from shared.assistant.conversations.service import ConversationPage
from shared.foundation.core.clock import format_ts
from web.auth import current_org_id, current_user, requires_person
from web.blueprint import Blueprint
from web.body import read_json_body
from web.conversations import schemas
from web.responses import json_response, no_content
from web.state import runtime
from web.transaction import Tx, in_transaction

blueprint = Blueprint("conversations", "A person's own conversations with the assistant")

_BODY = {"required": True, "content": {"application/json": {"schema": schemas.MESSAGES}}}


@blueprint.route("/agent/conversations")
@requires_person("agent:use")
@blueprint.arguments(schemas.ConversationQuery, location="query")
@blueprint.response(200, schemas.ConversationList)
@in_transaction
def list_conversations(tx: Tx, query: dict[str, Any]) -> ConversationPage:
    """List your conversations, newest first, without their messages."""
    return conversations.page(*tx, current_user().id, **query)


@blueprint.route("/agent/conversations", methods=["POST"])
@requires_person("agent:use")
@blueprint.arguments(schemas.NewConversationBody)
@blueprint.response(201, schemas.ConversationRow)
@in_transaction
def create_conversation(tx: Tx, body: dict[str, Any]) -> Conversation:
    """Start a conversation without messages."""
    return conversations.create(*tx, current_user().id, body["title"])


@blueprint.route("/agent/conversations/<conversation_id>")
@requires_person("agent:use")
@blueprint.response(200, schemas.ConversationDetail)
@in_transaction
def get_conversation(tx: Tx, conversation_id: str) -> Response:
    """Read one of your conversations with its messages."""
    found = conversations.get(*tx, current_user().id, conversation_id)
    return json_response(
        {
            "id": found.id,
            "title": found.title,
            "created_at": format_ts(found.created_at),
            "updated_at": format_ts(found.updated_at),
            "messages": msgspec.Raw(found.messages),
        }
    )


@blueprint.route("/agent/conversations/<conversation_id>", methods=["PATCH"])
@requires_person("agent:use")
@blueprint.arguments(schemas.RenameBody)
@blueprint.response(200, schemas.ConversationRow)
@in_transaction
def rename_conversation(tx: Tx, body: dict[str, Any], conversation_id: str) -> Conversation:
    """Give one of your conversations another title."""
    return conversations.rename(*tx, current_user().id, conversation_id, body["title"])


@blueprint.route("/agent/conversations/<conversation_id>", methods=["DELETE"])
@requires_person("agent:use")
@blueprint.response(204)
@in_transaction
def delete_conversation(tx: Tx, conversation_id: str) -> Response:
    """Delete one of your conversations for good."""
    conversations.delete(*tx, current_user().id, conversation_id)
    return no_content()


@blueprint.route("/agent/conversations/<conversation_id>/messages", methods=["PUT"])
@requires_person("agent:use")
@blueprint.doc(requestBody=_BODY)
@blueprint.reads_body
@blueprint.response(200, schemas.ConversationRow)
def replace_messages(conversation_id: str) -> Conversation:
    """Replace the messages of one of your conversations.

    There are at most 500 messages, with at most 1 MiB in total as a JSON array. A content is any
    JSON value and is returned as it was sent.
    """
    thread = read_thread(read_json_body() or b"{}")
    with runtime().postgres.transaction() as session:
        owner = current_org_id(), current_user().id
        return conversations.replace_messages(session, *owner, conversation_id, thread)
