"""The outbox table."""

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.core.ids import new_id
from shared.foundation.postgres import Base, created_at_column, timestamp_type


class Mail(Base):
    """A mail of a `kind`, rendered from `context` when it is sent.

    The rendered text is not stored: a sign-in code is created at the moment of sending. `attempts`
    counts the attempts that began. A mail that a worker has taken has its `next_attempt_at` in the
    future, so that it is due again if the worker dies. No attempt begins after `expires_at`.
    """

    __tablename__ = "mails"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    org_id: Mapped[uuid.UUID | None] = mapped_column(
        ForeignKey("organizations.id", ondelete="CASCADE"), index=True
    )
    kind: Mapped[str]
    recipient: Mapped[str]
    context: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default=text("'{}'"))
    status: Mapped[str] = mapped_column(server_default=text("'queued'"))
    attempts: Mapped[int] = mapped_column(server_default=text("0"))
    next_attempt_at: Mapped[datetime] = mapped_column(
        timestamp_type, server_default=func.clock_timestamp()
    )
    expires_at: Mapped[datetime] = mapped_column(timestamp_type)
    last_error: Mapped[str | None]
    request_id: Mapped[str]
    created_at: Mapped[datetime] = created_at_column()
    finished_at: Mapped[datetime | None] = mapped_column(timestamp_type)

    __table_args__ = (
        CheckConstraint("status IN ('queued', 'sent', 'failed')", name="status"),
        Index("ix_mails_due", "next_attempt_at", postgresql_where=text("status = 'queued'")),
    )
