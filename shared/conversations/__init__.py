"""Conversations with the assistant; each belongs to one person in one organization."""

from shared.conversations.messages import Thread, read_thread
from shared.conversations.models import Conversation
from shared.conversations.service import (
    ConversationPage,
    create,
    delete,
    get,
    page,
    rename,
    replace_messages,
)

__all__ = [
    "Conversation",
    "ConversationPage",
    "Thread",
    "create",
    "delete",
    "get",
    "page",
    "read_thread",
    "rename",
    "replace_messages",
]
