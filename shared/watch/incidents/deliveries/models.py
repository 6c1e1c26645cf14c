"""Notifications: one row per delivery, which is also the outbox of those over HTTP."""

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, CheckConstraint, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.access.mail.models import Mail
from shared.access.settings.rules import masked_url
from shared.foundation.core.channels import KINDS
from shared.foundation.postgres import Base, created_at_column, same_org, timestamp_type
from shared.foundation.postgres.columns import OfOrganization
from shared.foundation.postgres.leases import LeaseColumns


class Notification(LeaseColumns, OfOrganization, Base):
    """One delivery to one target; receivers know its `id` as the `delivery_id`.

    `incident_id` is null for a test. `content` is the content, the same in each attempt. The URL
    and the signing secret are read from the organization's settings (`url_setting_key`,
    `secret_setting_key`) when it is sent, so that neither is stored here. A delivery by mail is a
    row of `mails` (`mail_id`), whose outcome is copied here.
    """

    __tablename__ = "notifications"

    incident_id: Mapped[uuid.UUID | None]
    channel: Mapped[str]
    target: Mapped[str]
    event: Mapped[str]
    content: Mapped[dict[str, Any]] = mapped_column(JSON)
    url_setting_key: Mapped[str | None]
    secret_setting_key: Mapped[str | None]
    mail_id: Mapped[uuid.UUID | None] = mapped_column(
        ForeignKey(Mail.id, ondelete="SET NULL"), index=True
    )
    status: Mapped[str] = mapped_column(server_default=text("'queued'"))
    attempts: Mapped[int] = mapped_column(server_default=text("0"))
    error: Mapped[str | None]
    request_id: Mapped[str]
    created_at: Mapped[datetime] = created_at_column()
    next_attempt_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    expires_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    finished_at: Mapped[datetime | None] = mapped_column(timestamp_type)

    @property
    def shown_target(self) -> str:
        """The target without the path of a URL, which rows of earlier releases hold."""
        return self.target if self.url_setting_key is None else masked_url(self.target)

    __table_args__ = (
        CheckConstraint(f"channel IN ({', '.join(map(repr, KINDS))})", name="channel"),
        CheckConstraint("event IN ('alert.firing', 'alert.resolved', 'alert.test')", name="event"),
        CheckConstraint("status IN ('queued', 'sent', 'failed', 'skipped')", name="status"),
        same_org("incident_id", "incidents", name="fk_notifications_incident"),
        Index("ix_notifications_incident", "org_id", "incident_id", "created_at"),
        Index(
            "ix_notifications_due",
            "org_id",
            "url_setting_key",
            "next_attempt_at",
            postgresql_where=text("status = 'queued' AND url_setting_key IS NOT NULL"),
        ),
        Index(
            "ix_notifications_leased",
            "lease_expires_at",
            postgresql_where=text("lease_expires_at IS NOT NULL"),
        ),
        Index(
            "ix_notifications_mails_waiting",
            "org_id",
            postgresql_where=text("status = 'queued' AND mail_id IS NOT NULL"),
        ),
        Index(
            "ix_notifications_of_tests",
            "created_at",
            postgresql_where=text("incident_id IS NULL"),
        ),
    )
