"""Organizations, the tenants of a deployment, and a record of what was created in each."""

import secrets
import uuid
from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Identity, Index, func
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.core.ids import new_id
from shared.foundation.postgres import Base, created_at_column, timestamp_type


class Organization(Base):
    """A tenant; `deleted_at` is set by a soft delete, and the slug stays taken until the purge.

    In ClickHouse and Redis the id of an organization is `str(id)`. `deletion_salt` begins what is
    hashed of deleted sessions (`shared.reading.sessions.deleted`); null: the id does.
    """

    __tablename__ = "organizations"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    slug: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    billing_anchor: Mapped[datetime] = mapped_column(
        timestamp_type, server_default=func.clock_timestamp()
    )
    created_at: Mapped[datetime] = created_at_column()
    deleted_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    deletion_salt: Mapped[str | None] = mapped_column(default=lambda: secrets.token_hex(16))


class Creation(Base):
    """The creation of one thing of a kind; the row stays when the thing is deleted."""

    __tablename__ = "creations"

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    org_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    kind: Mapped[str]
    created_at: Mapped[datetime] = created_at_column()

    __table_args__ = (Index("ix_creations_of_kind", "org_id", "kind", "created_at"),)
