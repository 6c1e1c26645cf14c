"""The schedules of organizations, and the files that they have written."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.postgres import Base, timestamp_type
from shared.foundation.postgres.columns import KeyedInOrganization
from shared.foundation.postgres.leases import LeaseColumns

_EVERY = "every IN ('hourly', 'daily')"


class ExportSchedule(KeyedInOrganization, LeaseColumns, Base):
    """The work of an organization whose setting `exports.schedule` is on.

    Periods from `since` on have files. `next_look_at` is the next comparison of files with rows;
    from `full_look_at` on it is one of all periods, else one of the recent ones. `error` is the
    sentence of the last failure, null after a success.
    """

    __tablename__ = "export_schedules"

    every: Mapped[str]
    since: Mapped[datetime] = mapped_column(timestamp_type)
    next_look_at: Mapped[datetime] = mapped_column(timestamp_type)
    full_look_at: Mapped[datetime] = mapped_column(timestamp_type)
    looked_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    error: Mapped[str | None]

    __table_args__ = (
        CheckConstraint(_EVERY, name="every"),
        Index("ix_export_schedules_due", "next_look_at"),
    )


class ExportFile(KeyedInOrganization, Base):
    """A file: its name below the target, and its content in numbers.

    `fingerprint` stands for the rows that were there before the file was written; it is that of
    no rows while the file is being written, and if it has to be written again.
    """

    __tablename__ = "export_files"

    rows: Mapped[str] = mapped_column(primary_key=True)
    every: Mapped[str] = mapped_column(primary_key=True)
    starts_at: Mapped[datetime] = mapped_column(timestamp_type, primary_key=True)
    ends_at: Mapped[datetime] = mapped_column(timestamp_type)
    name: Mapped[str]
    fingerprint: Mapped[str] = mapped_column(server_default=text("''"))
    row_count: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    bytes: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    writes: Mapped[int] = mapped_column(server_default=text("0"))
    written_at: Mapped[datetime | None] = mapped_column(timestamp_type)

    __table_args__ = (
        CheckConstraint("rows IN ('events', 'sessions', 'evaluations')", name="rows"),
        CheckConstraint(_EVERY, name="every"),
        Index("ix_export_files_newest", "org_id", "starts_at"),
    )
