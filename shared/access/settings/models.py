"""The settings that an organization changed; all others have their defaults."""

from datetime import datetime
from typing import Any

from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.postgres import Base, created_at_column
from shared.foundation.postgres.columns import KeyedInOrganization


class OrganizationSetting(KeyedInOrganization, Base):
    """The value of one key of the catalogue; `updated_by` is an address or the name of a key."""

    __tablename__ = "organization_settings"

    key: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[Any] = mapped_column(JSONB)
    updated_at: Mapped[datetime] = created_at_column()
    updated_by: Mapped[str]
