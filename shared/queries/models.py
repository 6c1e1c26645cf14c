"""Saved queries: SQL that an organization keeps to run it again and to show it on dashboards."""

import uuid
from datetime import datetime

from sqlalchemy import JSON, ForeignKey, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.core.ids import new_id
from shared.postgres import Base, created_at_column


class SavedQuery(Base):
    """A statement with a name.

    `params` is an array of objects that only clients understand. It is `json`, not `jsonb`, which
    cannot hold every JSON text.
    """

    __tablename__ = "saved_queries"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    org_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    name: Mapped[str]
    description: Mapped[str] = mapped_column(server_default=text("''"))
    sql_text: Mapped[str]
    params: Mapped[list[dict[str, object]]] = mapped_column(JSON)
    created_by: Mapped[str | None]
    created_at: Mapped[datetime] = created_at_column()
    updated_at: Mapped[datetime] = created_at_column()

    __table_args__ = (
        UniqueConstraint("org_id", "name", name="uq_saved_queries_name"),
        # Rows that refer to a query do so within its organization.
        UniqueConstraint("org_id", "id", name="uq_saved_queries_id"),
    )
