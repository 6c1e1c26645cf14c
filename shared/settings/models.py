"""The settings that an organization changed; all others have their defaults."""

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from shared.postgres import Base, created_at_column


class OrganizationSetting(Base):
    """The value of one key of the catalogue; `updated_by` is an address or the name of a key."""

    __tablename__ = "organization_settings"

    org_id: Mapped[uuid.UUID] = mapped_column(
        ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True
    )
    key: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[Any] = mapped_column(JSONB)
    updated_at: Mapped[datetime] = created_at_column()
    updated_by: Mapped[str]
