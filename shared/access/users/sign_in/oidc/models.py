"""People's identities at providers, and what groups there gave them."""

import uuid
from datetime import datetime

from sqlalchemy import ForeignKey, ForeignKeyConstraint, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.postgres import Base, created_at_column, timestamp_type
from shared.foundation.postgres.columns import KeyedInOrganization


class ExternalIdentity(Base):
    """The account of a subject of an issuer; an account has one subject at each issuer."""

    __tablename__ = "external_identities"
    __table_args__ = (UniqueConstraint("user_id", "issuer", name="uq_external_identities_user"),)

    issuer: Mapped[str] = mapped_column(primary_key=True)
    subject: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    created_at: Mapped[datetime] = created_at_column()


class GroupGrant(KeyedInOrganization, Base):
    """The permission set that a membership has because of a group.

    `made_membership`: the group made the membership. Otherwise `previous_set` is the set that
    people gave, for the time after the group. `withdrawn_at`: the group ended the membership then,
    so a group may restore it.
    """

    __tablename__ = "group_grants"
    __table_args__ = (
        ForeignKeyConstraint(
            ["org_id", "user_id"],
            ["memberships.org_id", "memberships.user_id"],
            name="fk_group_grants_membership",
            ondelete="CASCADE",
        ),
    )

    user_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    permission_set: Mapped[str]
    previous_set: Mapped[str | None]
    made_membership: Mapped[bool]
    withdrawn_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    created_at: Mapped[datetime] = created_at_column()
