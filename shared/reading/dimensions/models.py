"""How far the dimensions of events that were stored before there were any are filled."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.postgres import Base, timestamp_type
from shared.foundation.postgres.columns import KeyedInOrganization


class DimensionBackfill(KeyedInOrganization, Base):
    """The last backfill of an organization, and what all of them have filled.

    It reads the events from `starts_at` (null: all) to `ends_at`, and is at `place`, null when it
    has ended. Filters find all events from `filled_since` on, with `filled_all` all events.
    """

    __tablename__ = "dimension_backfills"

    starts_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    ends_at: Mapped[datetime] = mapped_column(timestamp_type)
    place: Mapped[list[Any] | None] = mapped_column(JSONB(none_as_null=True))
    events: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    filled: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    filled_since: Mapped[datetime | None] = mapped_column(timestamp_type)
    filled_all: Mapped[bool] = mapped_column(server_default=text("false"))
