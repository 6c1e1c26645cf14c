"""Conversations with the assistant; each belongs to one person in one organization."""

import uuid
from datetime import datetime

from sqlalchemy import ForeignKey, Index, LargeBinary, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.core.ids import new_id
from shared.postgres import Base, created_at_column


class Conversation(Base):
    """A thread.

    `messages` is its JSON array as bytes, because JSONB cannot hold every JSON text.
    """

    __tablename__ = "conversations"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    org_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    title: Mapped[str]
    messages: Mapped[bytes] = mapped_column(LargeBinary)
    message_count: Mapped[int] = mapped_column(server_default=text("0"))
    created_at: Mapped[datetime] = created_at_column()
    updated_at: Mapped[datetime] = created_at_column()

    __table_args__ = (Index("ix_conversations_of_user", "org_id", "user_id", "created_at"),)
