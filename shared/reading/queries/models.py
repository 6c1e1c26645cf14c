"""Saved queries: SQL that an organization keeps to run it again and to show it on dashboards."""

from sqlalchemy import JSON, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.postgres import Base
from shared.foundation.postgres.columns import OfOrganization, Timestamps


class SavedQuery(OfOrganization, Timestamps, Base):
    """A statement with a name.

    `params` is an array of objects that only clients understand. It is `json`, not `jsonb`, which
    cannot hold every JSON text.
    """

    __tablename__ = "saved_queries"

    name: Mapped[str]
    description: Mapped[str] = mapped_column(server_default=text("''"))
    sql_text: Mapped[str]
    params: Mapped[list[dict[str, object]]] = mapped_column(JSON)
    created_by: Mapped[str | None]

    __table_args__ = (
        UniqueConstraint("org_id", "name", name="uq_saved_queries_name"),
        # Rows that refer to a query do so within its organization.
        UniqueConstraint("org_id", "id", name="uq_saved_queries_id"),
    )
