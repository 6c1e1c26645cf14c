"""Openings of an alert's incidents: by its evaluation, or by a person."""

import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.foundation.core.actor import SYSTEM, Actor
from shared.foundation.core.errors import NotFound
from shared.watch.alerts.models import Alert
from shared.watch.incidents.opening import Breach, Opening, Source, origin_of
from shared.watch.incidents.rules import checked_summary, checked_title


def measured(
    alert: Alert,
    breach: Breach,
    *,
    title: str | None = None,
    group: Mapping[str, str | None] | None = None,
    level: int | str | None = None,
    ends_at: datetime | None = None,
) -> Opening:
    """Returns the opening by an evaluation, with the alert's severity and, without a title, name.

    `group`, `level` and `ends_at` are as the incident has them.
    """
    opening = _opening(alert, title or alert.name, "alert", breach, SYSTEM)
    return replace(opening, group=group, level=level, ends_at=ends_at)


def reported(alert: Alert, actor: Actor, summary: str, title: str | None) -> Opening:
    """Returns the opening by a person; without a title it has the alert's name.

    Raises `Invalid` naming `summary` or `title`.
    """
    breach = Breach(value=None, summary=checked_summary(summary), evidence=None)
    named = checked_title(title) or alert.name
    return _opening(alert, named, "manual", breach, actor)


def _opening(alert: Alert, title: str, source: Source, breach: Breach, actor: Actor) -> Opening:
    return Opening(
        org_id=alert.org_id,
        title=title,
        source=source,
        severity=alert.severity,
        breach=breach,
        actor=actor,
        alert_id=alert.id,
        alert_name=alert.name,
        trigger_kind=alert.trigger_kind,
        origin=origin_of(alert.id, alert.name, alert.description),
        channels=tuple(alert.channels),
        hold=partial(_hold, alert.id),
    )


def _hold(alert_id: uuid.UUID, session: Session, org_id: uuid.UUID) -> None:
    query = select(Alert.id).where(Alert.org_id == org_id, Alert.id == alert_id)
    if session.scalar(query.with_for_update(read=True, key_share=True)) is None:
        raise NotFound.named("alert", alert_id)
