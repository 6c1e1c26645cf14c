"""A person's conversations in one organization; nobody else finds them."""

import uuid

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, defer

from shared.conversations.messages import EMPTY, Thread
from shared.conversations.models import Conversation
from shared.core.errors import Invalid, NotFound
from shared.core.ids import parse_uuid

MAX_TITLE_LENGTH = 200
DEFAULT_TITLE = "New conversation"


def create(
    session: Session, org_id: uuid.UUID, user_id: uuid.UUID, title: str = ""
) -> Conversation:
    """A new conversation without messages; raises `Invalid` naming `title`."""
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


def listing(
    session: Session, org_id: uuid.UUID, user_id: uuid.UUID, *, limit: int
) -> list[Conversation]:
    """The newest `limit` conversations, newest first; their messages are not loaded."""
    query = (
        _own(org_id, user_id)
        .options(defer(Conversation.messages))
        .order_by(Conversation.created_at.desc(), Conversation.id)
        .limit(limit)
    )
    return list(session.scalars(query))


def find(
    session: Session, org_id: uuid.UUID, user_id: uuid.UUID, conversation_id: str
) -> Conversation:
    """One conversation with its messages; raises `NotFound`."""
    return _one(session, _own(org_id, user_id), conversation_id)


def rename(
    session: Session, org_id: uuid.UUID, user_id: uuid.UUID, conversation_id: str, title: str
) -> Conversation:
    """Raises `NotFound`, and `Invalid` naming `title` when it is empty or too long."""
    trimmed = _trimmed(title)
    if not trimmed:
        raise Invalid.field("title", "must not be empty")
    conversation = _changeable(session, org_id, user_id, conversation_id)
    conversation.title = trimmed
    return _touched(session, conversation)


def replace_messages(
    session: Session, org_id: uuid.UUID, user_id: uuid.UUID, conversation_id: str, thread: Thread
) -> Conversation:
    """The conversation with these messages instead of its own; raises `NotFound`."""
    conversation = _changeable(session, org_id, user_id, conversation_id)
    conversation.messages = thread.messages
    conversation.message_count = thread.count
    return _touched(session, conversation)


def delete(session: Session, org_id: uuid.UUID, user_id: uuid.UUID, conversation_id: str) -> None:
    """Deletes it for good; raises `NotFound`."""
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
    parsed = parse_uuid(conversation_id)
    found = None
    if parsed is not None:
        found = session.scalars(query.where(Conversation.id == parsed)).one_or_none()
    if found is None:
        raise NotFound("there is no such conversation")
    return found


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
