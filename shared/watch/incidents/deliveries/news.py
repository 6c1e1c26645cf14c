"""The facts of an incident that every channel reports."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from shared.foundation.core import pages
from shared.foundation.core.text import figure
from shared.watch.incidents.models import Incident

Event = Literal["alert.firing", "alert.resolved", "alert.test"]
_STATES = {"alert.firing": "", "alert.resolved": "Resolved: ", "alert.test": "Test: "}


@dataclass(frozen=True)
class News:
    """The facts; `origin` is that of the incident, None if a person opened it.

    `stored` is False for a test, whose incident does not exist. `page` is the path of the page for
    people: the incident's, or of a test the alert's. `url` is for programs, None for a test. `url`
    and `page_url` are None without PUBLIC_URL. `group` and `level` are those of the incident.
    """

    event: Event
    org_id: uuid.UUID
    incident_id: uuid.UUID
    stored: bool
    page: str
    page_url: str | None
    url: str | None
    opened_at: datetime
    title: str
    origin: Mapping[str, Any] | None
    severity: str
    value: float | None
    summary: str | None
    evidence: Mapping[str, Any] | None
    group: Mapping[str, str | None] | None = None
    level: int | str | None = None

    @property
    def headline(self) -> str:
        """Returns `[critical] Resolved: the title`, on one line."""
        return f"[{self.severity}] {_STATES[self.event]}{' '.join(self.title.split())}"

    @property
    def origin_name(self) -> str | None:
        """The name of the alert or audit."""
        return None if self.origin is None else str(self.origin["name"])

    @property
    def description(self) -> str | None:
        """The description of the alert or audit: what to do when it fires."""
        return (self.origin or {}).get("description")

    @property
    def value_text(self) -> str | None:
        """The value as people read it."""
        metric = (self.evidence or {}).get("metric")
        return None if self.value is None else figure(metric, self.value)


def of_incident(incident: Incident, event: Event, *, org_slug: str, public_url: str | None) -> News:
    """Returns the facts of `event` about an incident as it is now."""
    page = pages.incident(org_slug, incident.id)
    return News(
        event=event,
        org_id=incident.org_id,
        incident_id=incident.id,
        stored=True,
        page=page,
        page_url=pages.url(public_url, page),
        url=pages.url(public_url, pages.incident_in_api(incident.id)),
        opened_at=incident.opened_at,
        title=incident.title,
        origin=incident.origin,
        severity=incident.alert_severity,
        value=incident.breach_value,
        summary=incident.breach_summary,
        evidence=incident.evidence,
        group=incident.group,
        level=incident.level,
    )
