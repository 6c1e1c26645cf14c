"""Incidents that people open for problems that no alert watches."""

import uuid

from shared.foundation.core.actor import Actor
from shared.watch.incidents import rules
from shared.watch.incidents.opening import Breach, Opening


def standalone(
    org_id: uuid.UUID, actor: Actor, summary: str, title: str | None, severity: str
) -> Opening:
    """Returns the opening of an incident without an alert; it is announced nowhere.

    Without a title it gets the first words of the summary. Raises `Invalid` naming `summary`,
    `title` or `severity`.
    """
    said = rules.checked_summary(summary)
    return Opening(
        org_id=org_id,
        title=rules.checked_title(title) or rules.title_of(said),
        source="manual",
        severity=rules.checked_severity(severity),
        breach=Breach(value=None, summary=said, evidence=None),
        actor=actor,
    )
