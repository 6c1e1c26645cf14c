"""Incidents that people open: of an alert, or of their own."""

import uuid

from shared.alerts.models import Alert
from shared.incidents.actor import Actor
from shared.incidents.opening import Breach, Opening
from shared.incidents.rules import (
    checked_severity,
    checked_summary,
    checked_title,
    title_of,
)


def of_alert(alert: Alert, actor: Actor, summary: str, title: str | None) -> Opening:
    """What somebody reports of an alert, with its severity, and its name where they give no title.

    Raises `Invalid` naming `summary` or `title`.
    """
    said = checked_summary(summary)
    return Opening(
        org_id=alert.org_id,
        title=checked_title(title) or alert.name,
        source="manual",
        severity=alert.severity,
        breach=Breach(value=None, summary=said, evidence=None),
        actor=actor.name,
        alert_id=alert.id,
        alert_name=alert.name,
        trigger_kind=alert.trigger_kind,
        origin={"id": str(alert.id), "name": alert.name},
        channels=tuple(alert.channels),
        subscriber=actor.email,
    )


def standalone(
    org_id: uuid.UUID, actor: Actor, summary: str, title: str | None, severity: str
) -> Opening:
    """What somebody reports of nothing that is watched; it is announced nowhere.

    The title is the first words of the summary where they give none. Raises `Invalid` naming
    `summary`, `title` or `severity`.
    """
    said = checked_summary(summary)
    return Opening(
        org_id=org_id,
        title=checked_title(title) or title_of(said),
        source="manual",
        severity=checked_severity(severity),
        breach=Breach(value=None, summary=said, evidence=None),
        actor=actor.name,
        subscriber=actor.email,
    )
