"""Notifications under test: an organization with settings, incidents to open, rows to read back."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from aiohttp.abc import AbstractResolver
from sqlalchemy import RowMapping, text

from shared.access.settings import service as settings
from shared.foundation.cache import at_once
from shared.foundation.core.actor import SYSTEM
from shared.foundation.core.ids import new_id
from shared.foundation.deployment.runtime import Runtime
from shared.watch.alerts.models import Alert
from shared.watch.audits.findings.evidence import AuditEvidence
from shared.watch.incidents import service as incidents
from shared.watch.incidents.models import Incident
from shared.watch.incidents.opening import Breach, Opening
from tests.support.incidents import key_actor
from tests.support.runtime import Org
from workers.deliveries.client import DeliveryClient
from workers.deliveries.dispatcher import DeliveryDispatcher

SECRET = "a secret of the tests"
PUBLIC_URL = "https://watch.example.org"

EMAIL: Mapping[str, Any] = {"kind": "email", "recipients": None}
SLACK: Mapping[str, Any] = {"kind": "slack"}
WEBHOOK: Mapping[str, Any] = {"kind": "webhook"}
DASHBOARD: Mapping[str, Any] = {"kind": "dashboard"}

FOUND: AuditEvidence = {
    "session_ids": ["s-1"],
    "event_ids": [4],
    "numbers": {"error_rate": 0.25},
    "affected_sessions": 1,
    "total_sessions": 4,
    "window": {"from": "2026-07-01T00:00:00.000Z", "to": "2026-07-02T00:00:00.000Z"},
}


@dataclass
class Desk:
    """An organization whose incidents are announced."""

    runtime: Runtime
    org: Org

    def __post_init__(self) -> None:
        self.configure(webhook_allow_private=True, public_url=PUBLIC_URL)

    def configure(self, **values: Any) -> None:
        """Sets variables for later calls."""
        self.runtime = replace(
            self.runtime, settings=msgspec.structs.replace(self.runtime.settings, **values)
        )

    def set(self, key: str, value: object) -> None:
        """Changes the setting `alerts.<key>` of the organization."""
        by = settings.Editor("the tests", None)
        with at_once(self.runtime.postgres, self.runtime.redis) as session:
            settings.replace(
                session, self.runtime.settings, self.org.uuid, f"alerts.{key}", value, by
            )

    def open(self, *channels: Mapping[str, Any], **fields: Any) -> Incident:
        """Opens an incident, or folds into the open one of the alert, and announces it."""
        with self.runtime.postgres.transaction() as session:
            return incidents.open_incident(
                session, self.runtime, self.opening(*channels, **fields)
            ).incident

    def opening(self, *channels: Mapping[str, Any], **fields: Any) -> Opening:
        """Returns an opening, by default of an audit, which needs no rows of its own."""
        values: dict[str, Any] = {
            "title": "Too many errors",
            "source": "audit",
            "severity": "critical",
            "breach": Breach(0.25, "error_rate 0.25 > 0.2", dict(FOUND)),
            "actor": SYSTEM,
            "origin": {"id": str(new_id()), "name": "Error rate"},
            **fields,
        }
        return Opening(org_id=self.org.uuid, channels=channels, **values)

    def resolve(self, incident: Incident) -> None:
        """Resolves an incident and announces that."""
        with self.runtime.postgres.transaction() as session:
            incidents.resolve(
                session, self.runtime, self.org.uuid, incident.id, key_actor("ann@example.net")
            )

    def send(self, *, deadline_secs: float = 30.0, resolver: AbstractResolver | None = None) -> int:
        """Makes the due deliveries. Returns the number of attempts."""
        client = DeliveryClient(
            allow_private=self.runtime.settings.webhook_allow_private,
            deadline_secs=deadline_secs,
            resolver=resolver,
        )
        try:
            return DeliveryDispatcher(self.runtime, client, threading.Event()).run()
        finally:
            client.close()

    def send_later(self, **values: Any) -> int:
        """Ends every wait and every lease, then calls `send`."""
        self.now_due()
        return self.send(**values)

    def alert(self) -> Alert:
        """Returns a rule that is not stored, for tests of its channels."""
        return Alert(id=new_id(), org_id=self.org.uuid, name="Error rate", severity="warning")

    def stored_alert(self) -> Alert:
        """Stores a rule for incidents."""
        alert = Alert(
            org_id=self.org.uuid,
            name="Error rate",
            enabled=True,
            trigger_kind="metric_threshold",
            trigger_spec={},
            severity="critical",
            min_breaches=1,
            eval_window=1,
            eval_interval_secs=300,
            channels=[],
            created_by="the tests",
        )
        with self.runtime.postgres.transaction() as session:
            session.add(alert)
        return alert

    def rows(self) -> Sequence[RowMapping]:
        """Returns the organization's notifications, oldest first."""
        return self.sql(
            "SELECT *, extract(epoch FROM next_attempt_at - now())::float AS wait"
            " FROM notifications WHERE org_id = :org_id ORDER BY created_at"
        )

    def row(self) -> RowMapping:
        """Returns the only notification."""
        [only] = self.rows()
        return only

    def now_due(self) -> None:
        """Ends every wait and every lease."""
        self.sql(
            "UPDATE notifications SET next_attempt_at = now(), lease_expires_at = now()"
            " WHERE org_id = :org_id AND status = 'queued' AND url_setting_key IS NOT NULL"
        )

    def sql(self, statement: str, **params: object) -> Sequence[RowMapping]:
        """Runs SQL with `:org_id` bound."""
        with self.runtime.postgres.transaction() as session:
            result = session.connection().execute(
                text(statement), {"org_id": self.org.uuid, **params}
            )
            return result.mappings().all() if result.returns_rows else []
