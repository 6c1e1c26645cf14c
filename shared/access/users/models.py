"""People: an account is an e-mail address; a membership has its permissions in an organization."""

import uuid
from datetime import datetime

from sqlalchemy import ForeignKey, Text, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.core.ids import new_id
from shared.foundation.postgres import Base, created_at_column, timestamp_type
from shared.foundation.postgres.columns import KeyedInOrganization, Timestamps


class User(Base):
    """An account of the deployment, identified by its lower-case address."""

    __tablename__ = "users"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    email: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[datetime] = created_at_column()


class Membership(KeyedInOrganization, Timestamps, Base):
    """A user's permissions in one organization: (permission_set | added) - removed.

    `is_pending`: invited, and the person has not used the organization yet. `signed_out_at`: a
    sign-in session that began earlier is not for this organization.
    """

    __tablename__ = "memberships"

    user_id: Mapped[uuid.UUID] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    permission_set: Mapped[str | None]
    permission_added: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'"))
    permission_removed: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'"))
    is_protected: Mapped[bool] = mapped_column(server_default=text("false"))
    is_pending: Mapped[bool] = mapped_column(server_default=text("false"))
    signed_out_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    disabled_at: Mapped[datetime | None] = mapped_column(timestamp_type)
