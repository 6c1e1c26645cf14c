"""The members that ADMIN_EMAIL has created."""

import uuid
from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from shared.postgres import Base, created_at_column


class FirstMember(Base):
    """An address of ADMIN_EMAIL; the row stays when the member is removed."""

    __tablename__ = "first_members"

    org_id: Mapped[uuid.UUID] = mapped_column(
        ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True
    )
    email: Mapped[str] = mapped_column(primary_key=True)
    created_at: Mapped[datetime] = created_at_column()
