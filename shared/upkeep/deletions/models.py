"""Deletions that people asked for."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.postgres import Base, timestamp_type
from shared.foundation.postgres.columns import OfOrganization, Timestamps
from shared.foundation.postgres.leases import LeaseColumns

# The states of deletions that a worker still has to look at.
LIVE = "state IN ('queued', 'running', 'hidden', 'rewritten')"
STORES = ("clickhouse", "postgres", "redis")
# The rows of ClickHouse that the round under way removes, beside those of the rounds before it.
ROUND = "round"


class Deletion(OfOrganization, Timestamps, LeaseColumns, Base):
    """A deletion and its report.

    `value` and `session_ids` are what has to be deleted, in clear; they are removed when nothing
    names it any more. `field` and `value_hash` (hexadecimal) stay: neither, for sessions by id; a
    hash alone, for a user. `removed` counts rows by store and table, `remaining` rows that still
    name what was deleted, by table.
    """

    __tablename__ = "deletions"

    state: Mapped[str] = mapped_column(server_default=text("'queued'"))
    field: Mapped[str | None]
    value: Mapped[str | None]
    value_hash: Mapped[str | None]
    session_ids: Mapped[list[str] | None] = mapped_column(JSONB(none_as_null=True))
    sessions: Mapped[int] = mapped_column(server_default=text("0"))
    removed: Mapped[dict[str, dict[str, int]]] = mapped_column(JSONB, server_default=text("'{}'"))
    remaining: Mapped[dict[str, int]] = mapped_column(JSONB, server_default=text("'{}'"))
    created_by: Mapped[str]
    request_id: Mapped[str]
    error: Mapped[str | None]
    fenced_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    hidden_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    rewritten_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    finished_at: Mapped[datetime | None] = mapped_column(timestamp_type)

    @property
    def removed_so_far(self) -> dict[str, dict[str, int]]:
        """Returns the counts by store and table, those of the round under way too."""
        counts = {store: self.removed.get(store, {}) for store in STORES}
        under_way = self.removed.get(ROUND, {})
        more = {name: counts["clickhouse"].get(name, 0) + rows for name, rows in under_way.items()}
        return {**counts, "clickhouse": {**counts["clickhouse"], **more}}

    __table_args__ = (
        CheckConstraint(
            "state IN ('queued', 'running', 'hidden', 'rewritten', 'done', 'failed')", name="state"
        ),
        Index("ix_deletions_newest", "org_id", "created_at"),
        Index("ix_deletions_live", "created_at", postgresql_where=text(LIVE)),
    )
