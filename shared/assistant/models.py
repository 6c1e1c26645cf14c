"""Turns of the assistant: a question, and what its answer cost."""

import uuid
from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, LargeBinary, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.postgres import Base, created_at_column, timestamp_type
from shared.foundation.postgres.columns import OfOrganization
from shared.foundation.postgres.leases import LeaseColumns

ACTIVE = "state IN ('queued', 'running')"


class AssistantTurn(OfOrganization, LeaseColumns, Base):
    """A turn, which a worker holds while it runs.

    `request` is the client's JSON; it is removed when the turn ends, so that no text of people
    stays. The tokens are those that the model's server reported, else an estimate.
    """

    __tablename__ = "assistant_turns"

    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    model: Mapped[str]
    request: Mapped[bytes | None] = mapped_column(LargeBinary)
    state: Mapped[str] = mapped_column(server_default=text("'queued'"))
    tool_calls: Mapped[int] = mapped_column(server_default=text("0"))
    input_tokens: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    output_tokens: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    created_at: Mapped[datetime] = created_at_column()
    finished_at: Mapped[datetime | None] = mapped_column(timestamp_type)

    __table_args__ = (
        CheckConstraint(
            "state IN ('queued', 'running', 'done', 'failed', 'cancelled')", name="state"
        ),
        Index("ix_assistant_turns_active", "created_at", postgresql_where=text(ACTIVE)),
        Index("ix_assistant_turns_of_organization", "org_id", "created_at"),
    )
