"""Incidents, with the comments and actions of people."""

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    ForeignKey,
    Identity,
    Index,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.postgres import Base, created_at_column, same_org, timestamp_type
from shared.foundation.postgres.columns import KeyedInOrganization, OfOrganization

OPEN = "state <> 'resolved'"
_GROUP = "coalesce(breach_group::text, '')"


class Incident(OfOrganization, Base):
    """A problem that needs people, from its opening until it is resolved.

    The columns about its alert or finding (`alert_name`, `alert_severity`, `trigger_kind`,
    `channels`) stay as they were at the opening. `breach_group` is the group of a rule that is
    evaluated for each, as `{field: value}`; no other column says whose incident it is. Of a budget,
    `level` is the last one that was announced, a number or `forecast`, and the incident ends by
    itself when its period does (`ends_at`). For an incident of an audit `alert_name` is null
    and `origin` is the audit, for one of an alert `origin` is the alert (`origin_of`).

    The keys to alerts and findings name their tables, and `use_alter` leaves them unresolved:
    alerts and audits import incidents, and a process may write incidents without knowing both.
    """

    __tablename__ = "incidents"

    title: Mapped[str]
    source: Mapped[str]
    source_finding_id: Mapped[uuid.UUID | None] = mapped_column(
        ForeignKey("findings.id", ondelete="SET NULL", use_alter=True)
    )
    alert_id: Mapped[uuid.UUID | None]
    alert_name: Mapped[str | None]
    alert_severity: Mapped[str]
    trigger_kind: Mapped[str | None]
    origin: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    channels: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    state: Mapped[str] = mapped_column(server_default=text("'firing'"))
    opened_at: Mapped[datetime] = created_at_column()
    last_breach_at: Mapped[datetime] = created_at_column()
    acknowledged_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    acknowledged_by: Mapped[str | None]
    assignees: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'"))
    resolved_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    resolved_by: Mapped[str | None]
    breach_value: Mapped[float | None]
    breach_summary: Mapped[str | None]
    evidence: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    breach_group: Mapped[dict[str, str | None] | None] = mapped_column(JSONB(none_as_null=True))
    level: Mapped[int | str | None] = mapped_column(JSONB(none_as_null=True))
    ends_at: Mapped[datetime | None] = mapped_column(timestamp_type)

    @property
    def alert_description(self) -> str | None:
        """The description of its alert or audit: what to do when it fires."""
        return (self.origin or {}).get("description")

    @property
    def group(self) -> dict[str, str | None] | None:
        """The group, as answers name it."""
        return self.breach_group

    __table_args__ = (
        CheckConstraint("source IN ('alert', 'manual', 'audit')", name="source"),
        CheckConstraint("state IN ('firing', 'acknowledged', 'resolved')", name="state"),
        CheckConstraint("alert_severity IN ('info', 'warning', 'critical')", name="severity"),
        # Rows that refer to an incident do so within its organization.
        UniqueConstraint("org_id", "id", name="uq_incidents_id"),
        same_org("alert_id", "alerts", name="fk_incidents_alert", use_alter=True),
        # An alert, a group of one, or a finding has at most one open incident, whoever opens it.
        Index(
            "uq_incidents_open_of_group",
            "alert_id",
            text(_GROUP),
            unique=True,
            # Several groups may have lost their names.
            postgresql_where=text(
                f"{OPEN} AND coalesce(breach_group::text, '') NOT LIKE '%[deleted]%'"
            ),
        ),
        Index(
            "uq_incidents_open_of_finding",
            "source_finding_id",
            unique=True,
            postgresql_where=text(OPEN),
        ),
        Index("ix_incidents_newest", "org_id", "opened_at"),
        Index("ix_incidents_open", "org_id", "opened_at", postgresql_where=text(OPEN)),
        Index("ix_incidents_of_alert", "org_id", "alert_id"),
        # For the deletion of a finding: the unique index above contains only open incidents.
        Index("ix_incidents_of_finding", "source_finding_id"),
    )


class IncidentComment(OfOrganization, Base):
    """A comment; a deleted one stays as a tombstone without its body.

    `author_id` is the account or key of the author, because anybody may give a key the name of a
    person.
    """

    __tablename__ = "incident_comments"

    incident_id: Mapped[uuid.UUID]
    author_id: Mapped[uuid.UUID]
    author_email: Mapped[str]
    body: Mapped[str | None]
    created_at: Mapped[datetime] = created_at_column()
    edited_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    deleted_at: Mapped[datetime | None] = mapped_column(timestamp_type)

    __table_args__ = (
        same_org("incident_id", "incidents", name="fk_incident_comments_incident"),
        Index("ix_incident_comments_incident", "org_id", "incident_id", "created_at"),
    )


class IncidentSubscriber(KeyedInOrganization, Base):
    """An address that gets mail about an incident while `unsubscribed_at` is null."""

    __tablename__ = "incident_subscribers"

    incident_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(primary_key=True)
    source: Mapped[str]
    subscribed_at: Mapped[datetime] = created_at_column()
    unsubscribed_at: Mapped[datetime | None] = mapped_column(timestamp_type)

    __table_args__ = (
        same_org("incident_id", "incidents", name="fk_incident_subscribers_incident"),
    )


class IncidentActivity(Base):
    """An action or event in the history of an incident, in the order of `id`."""

    __tablename__ = "incident_activity"

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    org_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    incident_id: Mapped[uuid.UUID]
    kind: Mapped[str]
    actor: Mapped[str]
    at: Mapped[datetime] = created_at_column()
    detail: Mapped[dict[str, Any]] = mapped_column(JSON)

    __table_args__ = (
        same_org("incident_id", "incidents", name="fk_incident_activity_incident"),
        Index("ix_incident_activity_incident", "org_id", "incident_id", "id"),
    )
