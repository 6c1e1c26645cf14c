"""Conversations with the assistant; each belongs to one person in one organization."""

import uuid

from sqlalchemy import ForeignKeyConstraint, Index, LargeBinary, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.postgres import Base
from shared.foundation.postgres.columns import OfOrganization, Timestamps


class Conversation(OfOrganization, Timestamps, Base):
    """A thread.

    `messages` is its JSON array as bytes, because JSONB cannot hold every JSON text.
    """

    __tablename__ = "conversations"

    user_id: Mapped[uuid.UUID]
    title: Mapped[str]
    messages: Mapped[bytes] = mapped_column(LargeBinary)
    message_count: Mapped[int] = mapped_column(server_default=text("0"))

    __table_args__ = (
        # They go with the membership.
        ForeignKeyConstraint(
            ["org_id", "user_id"],
            ["memberships.org_id", "memberships.user_id"],
            name="fk_conversations_org_id_user_id",
            ondelete="CASCADE",
        ),
        Index("ix_conversations_of_user", "org_id", "user_id", "created_at"),
    )
