"""Context windows that an organization set itself."""

import uuid
from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from shared.postgres import Base, created_at_column


class ModelContextWindow(Base):
    """The window of one model in tokens; 0 means unknown."""

    __tablename__ = "model_context_windows"

    org_id: Mapped[uuid.UUID] = mapped_column(
        ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True
    )
    model_id: Mapped[str] = mapped_column(primary_key=True)
    context_window: Mapped[int]
    updated_at: Mapped[datetime] = created_at_column()
