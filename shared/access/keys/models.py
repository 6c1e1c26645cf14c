"""API keys in PostgreSQL, which has the hash of a secret and never the secret."""

import uuid
from datetime import datetime

from sqlalchemy import ForeignKey, Index, LargeBinary, Text, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.core.ids import new_id
from shared.foundation.postgres import Base, created_at_column, timestamp_type


class ApiKey(Base):
    """A key of one organization, or of the whole instance if `org_id` is null.

    `key_hash` is the SHA-256 of the secret. It is unique among revoked keys too, so a revoked
    secret is never valid again. `permissions` are the tokens as granted;
    `shared.access.permissions.effective` interprets them. `last_used_at` is to the minute; null:
    not used since it is noted.
    """

    __tablename__ = "api_keys"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    org_id: Mapped[uuid.UUID | None] = mapped_column(
        ForeignKey("organizations.id", ondelete="CASCADE")
    )
    name: Mapped[str]
    key_hash: Mapped[bytes] = mapped_column(LargeBinary)
    permissions: Mapped[list[str]] = mapped_column(ARRAY(Text))
    is_protected: Mapped[bool] = mapped_column(server_default=text("false"))
    created_at: Mapped[datetime] = created_at_column()
    revoked_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    expires_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    last_used_at: Mapped[datetime | None] = mapped_column(timestamp_type)

    __table_args__ = (
        # Deferrable, because the two bootstrap keys may swap their secrets in one start.
        UniqueConstraint("key_hash", deferrable=True),
        Index(
            "uq_api_keys_live_name",
            "org_id",
            "name",
            unique=True,
            postgresql_where=text("revoked_at IS NULL"),
        ),
        Index(
            "uq_api_keys_instance_name",
            "name",
            unique=True,
            postgresql_where=text("org_id IS NULL"),
        ),
    )
