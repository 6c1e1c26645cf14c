"""Receipts in PostgreSQL, one row an hour and origin."""

from datetime import datetime

from sqlalchemy import Index
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.postgres import Base, timestamp_type
from shared.foundation.postgres.columns import KeyedInOrganization


class ReceiptRow(KeyedInOrganization, Base):
    """The arrivals of one hour from one origin and service; "" where requests did not say.

    `tally` maps names to numbers (`shared.intake.receipts.receipt`).
    """

    __tablename__ = "receipts"

    bucket_start: Mapped[datetime] = mapped_column(timestamp_type, primary_key=True)
    source: Mapped[str] = mapped_column(primary_key=True)
    key_id: Mapped[str] = mapped_column(primary_key=True)
    sender: Mapped[str] = mapped_column(primary_key=True)
    machine_id: Mapped[str] = mapped_column(primary_key=True)
    service: Mapped[str] = mapped_column(primary_key=True)
    first_at: Mapped[datetime] = mapped_column(timestamp_type)
    last_at: Mapped[datetime] = mapped_column(timestamp_type)
    tally: Mapped[dict[str, int]] = mapped_column(JSONB)

    __table_args__ = (Index("ix_receipts_bucket_start", "bucket_start"),)


class ReceiptFlush(KeyedInOrganization, Base):
    """The batch of rows that an organization's last flush added, by its token in Redis."""

    __tablename__ = "receipt_flushes"

    batch: Mapped[str]
