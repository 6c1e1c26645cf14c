"""The facts of an incident that every channel reports."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from shared.incidents.models import Incident

Event = Literal["alert.firing", "alert.resolved", "alert.test"]
_STATES = {"alert.firing": "", "alert.resolved": "Resolved: ", "alert.test": "Test: "}


@dataclass(frozen=True)
class News:
    """The facts; `origin` is `{"id", "name"}` of the alert or audit, None if a person opened it.

    `stored` is False for a test, whose incident does not exist. `url` is None for a test, and
    without PUBLIC_URL.
    """

    event: Event
    org_id: uuid.UUID
    incident_id: uuid.UUID
    stored: bool
    url: str | None
    opened_at: datetime
    title: str
    origin: Mapping[str, Any] | None
    severity: str
    value: float | None
    summary: str | None
    evidence: Mapping[str, Any] | None

    @property
    def headline(self) -> str:
        """Returns `[critical] Resolved: the title`, on one line."""
        return f"[{self.severity}] {_STATES[self.event]}{' '.join(self.title.split())}"

    @property
    def origin_name(self) -> str | None:
        """The name of the alert or audit."""
        return None if self.origin is None else str(self.origin["name"])


def of_incident(incident: Incident, event: Event, public_url: str | None) -> News:
    """Returns the facts of `event` about an incident as it is now."""
    path = f"/v1/alerts/incidents/{incident.id}"
    url = None if public_url is None else public_url.rstrip("/") + path
    return News(
        event=event,
        org_id=incident.org_id,
        incident_id=incident.id,
        stored=True,
        url=url,
        opened_at=incident.opened_at,
        title=incident.title,
        origin=incident.origin,
        severity=incident.alert_severity,
        value=incident.breach_value,
        summary=incident.breach_summary,
        evidence=incident.evidence,
    )
