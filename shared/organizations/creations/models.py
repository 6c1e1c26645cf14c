"""One row for each thing that was created."""

import uuid
from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Identity, Index
from sqlalchemy.orm import Mapped, mapped_column

from shared.postgres import Base, created_at_column


class Creation(Base):
    """The creation of one thing of a kind; the row stays when the thing is deleted."""

    __tablename__ = "creations"

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    org_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    kind: Mapped[str]
    created_at: Mapped[datetime] = created_at_column()

    __table_args__ = (Index("ix_creations_of_kind", "org_id", "kind", "created_at"),)
