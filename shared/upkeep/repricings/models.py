"""Repricings that people asked for."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Index, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.postgres import Base, timestamp_type
from shared.foundation.postgres.columns import OfOrganization, Timestamps
from shared.foundation.postgres.leases import LeaseColumns

# The states of repricings that a worker still has to look at.
LIVE = "state IN ('queued', 'running')"


class Repricing(OfOrganization, Timestamps, LeaseColumns, Base):
    """A repricing of the calls from `starts_at` to `ends_at`, and its figures so far.

    `prices` are the organization's at its start, null afterwards. A round is counted first and
    written then, so that figures never count what the run has written itself: `counted` and
    `written` are the places (`shared.upkeep.rewriting.places`) up to which that is done. What lies
    between them is written again after a kill.
    """

    __tablename__ = "repricings"

    state: Mapped[str] = mapped_column(server_default=text("'queued'"))
    dry_run: Mapped[bool]
    starts_at: Mapped[datetime] = mapped_column(timestamp_type)
    ends_at: Mapped[datetime] = mapped_column(timestamp_type)
    model: Mapped[str | None]
    agent_id: Mapped[str | None]
    environment: Mapped[str | None]
    requested_by: Mapped[str]
    request_id: Mapped[str]
    is_cancelled: Mapped[bool] = mapped_column(server_default=text("false"))
    prices: Mapped[list[dict[str, Any]] | None] = mapped_column(JSONB(none_as_null=True))
    figures: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default=text("'{}'"))
    counted: Mapped[list[Any] | None] = mapped_column(JSONB(none_as_null=True))
    written: Mapped[list[Any] | None] = mapped_column(JSONB(none_as_null=True))
    error: Mapped[str | None]
    started_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    finished_at: Mapped[datetime | None] = mapped_column(timestamp_type)

    __table_args__ = (
        CheckConstraint(
            "state IN ('queued', 'running', 'done', 'failed', 'cancelled')", name="state"
        ),
        Index("ix_repricings_newest", "org_id", "created_at"),
        # An organization has one at a time.
        Index("uq_repricings_live", "org_id", unique=True, postgresql_where=text(LIVE)),
    )
