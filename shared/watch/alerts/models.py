"""Alert rules, and the progress of their evaluation."""

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    ForeignKey,
    Index,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.core.ids import new_id
from shared.foundation.postgres import Base, created_at_column, same_org, timestamp_type
from shared.foundation.postgres.leases import LeaseColumns


class Alert(Base):
    """A rule as people write it.

    `revision` grows with each change, `spec_revision` with each change of the trigger.
    """

    __tablename__ = "alerts"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    org_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    name: Mapped[str]
    description: Mapped[str | None]
    enabled: Mapped[bool]
    trigger_kind: Mapped[str]
    trigger_spec: Mapped[dict[str, Any]] = mapped_column(JSON)
    severity: Mapped[str]
    min_breaches: Mapped[int]
    eval_window: Mapped[int]
    eval_interval_secs: Mapped[int]
    channels: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    revision: Mapped[int] = mapped_column(server_default=text("1"))
    spec_revision: Mapped[int] = mapped_column(server_default=text("1"))
    created_by: Mapped[str]
    created_at: Mapped[datetime] = created_at_column()
    updated_at: Mapped[datetime] = created_at_column()

    __table_args__ = (
        CheckConstraint("severity IN ('info', 'warning', 'critical')", name="severity"),
        # Rows that refer to an alert do so within its organization.
        UniqueConstraint("org_id", "id", name="uq_alerts_id"),
        Index("ix_alerts_newest", "org_id", "created_at"),
    )


class AlertState(LeaseColumns, Base):
    """The state that evaluations of an enabled rule keep; created and reset with the rule.

    `due_at`: the next evaluation, null while the rule is disabled. `evaluated_to`: the moment up to
    which the last evaluation read events. `recent`: whether the last evaluations breached, oldest
    first, at most `eval_window` of them. `clean`: the evaluations without a breach since the last
    one with. `last_due_at` and `last_attempted_at`: the moments when the last evaluation was due,
    and was recorded. `begins_at`: windows begin no earlier, because a person resolved the incident,
    or snoozed the rule until then. `held_until`: a rule of SQL that breached when its incident was
    resolved opens no other one before, unless an evaluation without a breach came first. `groups`
    has the same of the groups of a rule that have something to remember, by their values ("" for
    none): `recent`, `clean`, `begins_at` (microseconds). A worker holds the rule while
    `lease_token` is its own.
    """

    __tablename__ = "alert_states"

    alert_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    org_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    is_sql: Mapped[bool] = mapped_column(server_default=text("false"))
    due_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    last_due_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    last_attempted_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    last_error: Mapped[str | None]
    evaluated_to: Mapped[datetime | None] = mapped_column(timestamp_type)
    begins_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    held_until: Mapped[datetime | None] = mapped_column(timestamp_type)
    recent: Mapped[list[bool]] = mapped_column(ARRAY(Boolean), server_default=text("'{}'"))
    clean: Mapped[int] = mapped_column(server_default=text("0"))
    groups: Mapped[dict[str, dict[str, Any]]] = mapped_column(
        JSONB, server_default=text("'{}'::jsonb")
    )

    __table_args__ = (
        same_org("alert_id", "alerts", name="fk_alert_states_alert"),
        Index(
            "ix_alert_states_due",
            "is_sql",
            "org_id",
            "due_at",
            postgresql_where=text("due_at IS NOT NULL"),
        ),
    )
