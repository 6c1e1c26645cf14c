"""Conversations with the assistant; each belongs to one person in one organization."""

from shared.conversations.messages import Thread, read_thread
from shared.conversations.models import Conversation
from shared.conversations.service import create, delete, find, listing, rename, replace_messages

__all__ = [
    "Conversation",
    "Thread",
    "create",
    "delete",
    "find",
    "listing",
    "read_thread",
    "rename",
    "replace_messages",
]
