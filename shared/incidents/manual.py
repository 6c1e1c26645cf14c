"""Incidents that people open for problems that no alert watches."""

import uuid

from shared.core.actor import Actor
from shared.incidents.opening import Breach, Opening
from shared.incidents.rules import (
    checked_severity,
    checked_summary,
    checked_title,
    title_of,
)


def standalone(
    org_id: uuid.UUID, actor: Actor, summary: str, title: str | None, severity: str
) -> Opening:
    """Returns the opening of an incident without an alert; it is announced nowhere.

    Without a title it gets the first words of the summary. Raises `Invalid` naming `summary`,
    `title` or `severity`.
    """
    said = checked_summary(summary)
    return Opening(
        org_id=org_id,
        title=checked_title(title) or title_of(said),
        source="manual",
        severity=checked_severity(severity),
        breach=Breach(value=None, summary=said, evidence=None),
        actor=actor,
    )
