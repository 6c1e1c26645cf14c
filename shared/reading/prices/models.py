"""Prices that an organization set itself."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.postgres import Base
from shared.foundation.postgres.base import timestamp_type
from shared.foundation.postgres.columns import OfOrganization, Timestamps


class OwnPrice(OfOrganization, Timestamps, Base):
    """A price for the calls of a model; `PriceTerms.parse` reads `terms`."""

    __tablename__ = "prices"

    model: Mapped[str]
    provider: Mapped[str | None]
    valid_from: Mapped[datetime | None] = mapped_column(timestamp_type)
    terms: Mapped[dict[str, Any]] = mapped_column(JSON)
    note: Mapped[str]
    created_by: Mapped[str | None]

    # Names count in any case, and an absent value is one. It also finds an organization's prices.
    __table_args__ = (
        Index(
            "uq_prices_key",
            "org_id",
            text("lower(model)"),
            text("coalesce(lower(provider), '')"),
            text("coalesce(valid_from, '-infinity')"),
            unique=True,
        ),
    )
