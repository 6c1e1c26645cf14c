"""The members that ADMIN_EMAIL has created."""

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.postgres import Base, created_at_column
from shared.foundation.postgres.columns import KeyedInOrganization


class FirstMember(KeyedInOrganization, Base):
    """An address of ADMIN_EMAIL; the row stays when the member is removed."""

    __tablename__ = "first_members"

    email: Mapped[str] = mapped_column(primary_key=True)
    created_at: Mapped[datetime] = created_at_column()
