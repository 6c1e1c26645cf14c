"""Lines of the audit log. They are only added; retention and a purge remove them."""

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.core.ids import new_id
from shared.foundation.postgres import Base, created_at_column


class AuditLine(Base):
    """One change, export or command; `org_id` is null for the operator's own log.

    `action` is `noun.verb`, and `noun` its first part. `before` and `after` hold the fields that
    differ, all of them for something that was created or deleted; they
    are `json`, because `jsonb` cannot hold every JSON text. PostgreSQL refuses every UPDATE.
    """

    __tablename__ = "audit_log"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    org_id: Mapped[uuid.UUID | None] = mapped_column(
        ForeignKey("organizations.id", ondelete="CASCADE")
    )
    at: Mapped[datetime] = created_at_column()
    actor_kind: Mapped[str]
    actor_id: Mapped[uuid.UUID | None]
    actor: Mapped[str]
    key_name: Mapped[str | None]
    way: Mapped[str]
    address: Mapped[str | None]
    request_id: Mapped[str | None]
    noun: Mapped[str]
    action: Mapped[str]
    target_id: Mapped[str | None]
    target: Mapped[str | None]
    before: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    after: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))

    # One index for each filter, in the order of pages.
    __table_args__ = (
        Index("ix_audit_log_newest", "org_id", "at", "id"),
        Index("ix_audit_log_noun", "org_id", "noun", "at", "id"),
        Index("ix_audit_log_action", "org_id", "action", "at", "id"),
        Index("ix_audit_log_actor", "org_id", "actor", "at", "id"),
        Index("ix_audit_log_target", "org_id", "target_id", "at", "id"),
    )
