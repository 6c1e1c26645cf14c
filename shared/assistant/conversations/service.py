"""A person's conversations in one organization; other people cannot find them."""

import uuid
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Select, func, or_, select
from sqlalchemy.orm import Session, defer

from shared.assistant.conversations.messages import EMPTY, Thread
from shared.assistant.conversations.models import Conversation
from shared.foundation.core.cursor import decode_cursor, encode_cursor
from shared.foundation.core.errors import Invalid
from shared.foundation.postgres.rows import require_row

MAX_TITLE_LENGTH = 200
DEFAULT_TITLE = "New conversation"


class ConversationPage(NamedTuple):
    """Some conversations and the cursor of those after them, None on the last page."""

    conversations: list[Conversation]
    next_cursor: str | None


class _Key(NamedTuple):
    """The sort key of the last row of a page."""

    created_at: datetime
    id: uuid.UUID


def create(
    session: Session, org_id: uuid.UUID, user_id: uuid.UUID, title: str = ""
) -> Conversation:
    """Creates a conversation without messages; raises `Invalid` naming `title`."""
    moment = func.now()
    conversation = Conversation(
        org_id=org_id,
        user_id=user_id,
        title=_trimmed(title) or DEFAULT_TITLE,
        messages=EMPTY.messages,
        message_count=EMPTY.count,
        created_at=moment,
        updated_at=moment,
    )
    session.add(conversation)
    session.flush()
    return conversation


def page(
    session: Session, org_id: uuid.UUID, user_id: uuid.UUID, *, limit: int, cursor: str | None
) -> ConversationPage:
    """Returns at most `limit` conversations, newest first, without their messages.

    Raises `Invalid` for a cursor that this list did not issue.
    """
    query = _own(org_id, user_id).options(defer(Conversation.messages))
    if cursor is not None:
        after = decode_cursor(cursor, _Key)
        same_time = Conversation.created_at == after.created_at
        query = query.where(
            or_(
                Conversation.created_at < after.created_at, same_time & (Conversation.id > after.id)
            )
        )
    ordered = query.order_by(Conversation.created_at.desc(), Conversation.id)
    found = list(session.scalars(ordered.limit(limit + 1)))
    shown = found[:limit]
    more = len(found) > limit
    last = _Key(shown[-1].created_at, shown[-1].id) if more else None
    return ConversationPage(shown, None if last is None else encode_cursor(last))


def get(
    session: Session, org_id: uuid.UUID, user_id: uuid.UUID, conversation_id: str
) -> Conversation:
    """Finds one conversation with its messages; raises `NotFound`."""
    return _one(session, _own(org_id, user_id), conversation_id)


def rename(
    session: Session, org_id: uuid.UUID, user_id: uuid.UUID, conversation_id: str, title: str
) -> Conversation:
    """Renames a conversation.

    Raises `NotFound`, or `Invalid` naming `title` if empty or too long.
    """
    trimmed = _trimmed(title)
    if not trimmed:
        raise Invalid.field("title", "must not be empty")
    conversation = _changeable(session, org_id, user_id, conversation_id)
    conversation.title = trimmed
    return _touched(session, conversation)


def replace_messages(
    session: Session, org_id: uuid.UUID, user_id: uuid.UUID, conversation_id: str, thread: Thread
) -> Conversation:
    """Replaces the messages of a conversation; raises `NotFound`."""
    conversation = _changeable(session, org_id, user_id, conversation_id)
    conversation.messages = thread.messages
    conversation.message_count = thread.count
    return _touched(session, conversation)


def delete(session: Session, org_id: uuid.UUID, user_id: uuid.UUID, conversation_id: str) -> None:
    """Deletes a conversation for good; raises `NotFound`."""
    session.delete(_changeable(session, org_id, user_id, conversation_id))


def _own(org_id: uuid.UUID, user_id: uuid.UUID) -> Select[Conversation]:
    return select(Conversation).where(
        Conversation.org_id == org_id, Conversation.user_id == user_id
    )


def _changeable(
    session: Session, org_id: uuid.UUID, user_id: uuid.UUID, conversation_id: str
) -> Conversation:
    query = _own(org_id, user_id).options(defer(Conversation.messages)).with_for_update()
    return _one(session, query, conversation_id)


def _one(session: Session, query: Select[Conversation], conversation_id: str) -> Conversation:
    return require_row(session, query, Conversation.id, conversation_id, "conversation")


def _touched(session: Session, conversation: Conversation) -> Conversation:
    conversation.updated_at = func.now()
    session.flush()
    session.refresh(conversation, ["updated_at"])
    return conversation


def _trimmed(title: str) -> str:
    trimmed = title.strip()
    if len(trimmed) > MAX_TITLE_LENGTH:
        raise Invalid.field("title", f"must have at most {MAX_TITLE_LENGTH} characters")
    if "\x00" in trimmed:
        raise Invalid.field("title", "must not contain U+0000")
    return trimmed
