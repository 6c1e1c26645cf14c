"""Context windows that an organization set itself."""

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.postgres import Base, created_at_column
from shared.foundation.postgres.columns import KeyedInOrganization


class ModelContextWindow(KeyedInOrganization, Base):
    """The window of one model in tokens; 0 means unknown."""

    __tablename__ = "model_context_windows"

    model_id: Mapped[str] = mapped_column(primary_key=True)
    context_window: Mapped[int]
    updated_at: Mapped[datetime] = created_at_column()
