"""Opens an incident, or folds a breach into the open one."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, cast

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from shared.access import organizations
from shared.access.organizations import creations
from shared.foundation.core.text import storable
from shared.foundation.postgres import present_time
from shared.reading.sessions import deleted
from shared.reading.sessions.deleted import INSTEAD
from shared.watch.incidents import activity, rows, subscribers
from shared.watch.incidents.details import BreachDetail, OpenedDetail
from shared.watch.incidents.evidence import COMPARED, ComparedFields
from shared.watch.incidents.models import Incident
from shared.watch.incidents.opening import Opening
from shared.watch.incidents.rules import MAX_SUMMARY_LENGTH, MAX_TITLE_LENGTH


class OpenedIncident(NamedTuple):
    """The open incident, and whether this opening created it."""

    incident: Incident
    newly_opened: bool


def open_or_fold(session: Session, opening: Opening) -> OpenedIncident:
    """Opens an incident, or folds the breach into the open one of its alert or finding.

    Folding records the last breach and its time. A person's report appears only in the activity;
    the numbers and the sentence of the last measured breach stay. Of two concurrent openings one
    opens and the other folds. Raises `NotFound` if the alert or finding is gone.
    """
    # The origin is always locked before the incident. An incident that was resolved during the wait
    # is locked too, but takes no breach.
    opening.hold(session, opening.org_id)
    opening = _of_what_is_there(session, opening)
    while True:
        found = _open_one(session, opening)
        if found is not None:
            _fold(session, found, opening)
            return OpenedIncident(found, newly_opened=False)
        made = _insert(session, opening)
        # If none was created, another transaction opened one meanwhile. It is found now, unless it
        # is already resolved.
        if made is not None:
            _note_opening(session, made, opening)
            return OpenedIncident(made, newly_opened=True)


def _of_what_is_there(session: Session, opening: Opening) -> Opening:
    """Takes sessions out of the evidence that were deleted since it was read.

    Deletions wait for the organization that is held here, and clean the incidents of that moment.
    """
    evidence = opening.breach.evidence
    organizations.hold(session, [opening.org_id])
    gone = deleted.mentioned(session, opening.org_id, evidence)
    if evidence is None or not gone:
        return opening
    return replace(opening, breach=replace(opening.breach, evidence=_without(evidence, gone)))


def _without(value: Any, gone: set[str]) -> Any:
    if isinstance(value, str):
        return INSTEAD if value in gone else value
    if isinstance(value, Mapping):
        return {name: _without(one, gone) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without(one, gone) for one in value]
    return value


def _open_one(session: Session, opening: Opening) -> Incident | None:
    if opening.alert_id is None and opening.finding_id is None:
        return None
    query = select(Incident).where(
        Incident.org_id == opening.org_id, Incident.state != rows.RESOLVED
    )
    if opening.alert_id is not None:
        is_of_group = (
            Incident.breach_group.is_(None)
            if opening.group is None
            else Incident.breach_group == _group(opening)
        )
        query = query.where(Incident.alert_id == opening.alert_id, is_of_group)
    else:
        query = query.where(Incident.source_finding_id == opening.finding_id)
    return session.scalars(rows.locking(query)).one_or_none()


def _insert(session: Session, opening: Opening) -> Incident | None:
    at = present_time(session)
    values = {
        "org_id": opening.org_id,
        "title": _title(opening),
        "source": opening.source,
        "source_finding_id": opening.finding_id,
        "alert_id": opening.alert_id,
        "alert_name": opening.alert_name,
        "alert_severity": opening.severity,
        "trigger_kind": opening.trigger_kind,
        "origin": None if opening.origin is None else dict(opening.origin),
        "channels": [dict(channel) for channel in opening.channels],
        "breach_group": _group(opening),
        "opened_at": at,
        "last_breach_at": at,
        **_measured(opening),
        **_of_level(opening),
    }
    statement = insert(Incident).values(values).on_conflict_do_nothing().returning(Incident)
    return session.scalars(statement).one_or_none()


def _note_opening(session: Session, incident: Incident, opening: Opening) -> None:
    creations.record(session, opening.org_id, "incident")
    summary = _measured(opening)["breach_summary"]
    detail: OpenedDetail = {"source": opening.source, "summary": summary, **_compared(opening)}
    activity.record(session, incident, "opened", opening.actor.name, incident.opened_at, detail)
    at = incident.last_breach_at
    subscribers.add_actor(session, incident, opening.actor, "creator", at)


def _fold(session: Session, incident: Incident, opening: Opening) -> None:
    incident.last_breach_at = at = present_time(session)
    measured = _measured(opening)
    if opening.source != "manual":
        for column, value in (measured | _of_level(opening)).items():
            setattr(incident, column, value)
    told: BreachDetail = {
        **_compared(opening),
        "value": measured["breach_value"],
        "summary": measured["breach_summary"],
    }
    activity.record_breach(session, incident, opening.actor.name, at, told)
    subscribers.add_actor(session, incident, opening.actor, "creator", at)
    session.flush()


def _title(opening: Opening) -> str:
    return storable(opening.title, MAX_TITLE_LENGTH)


def _group(opening: Opening) -> dict[str, str | None] | None:
    return None if opening.group is None else dict(opening.group)


def _of_level(opening: Opening) -> dict[str, Any]:
    """Returns the columns that tell the last level of a budget, none without a level."""
    if opening.level is None:
        return {}
    return {"title": _title(opening), "level": opening.level, "ends_at": opening.ends_at}


def _compared(opening: Opening) -> ComparedFields:
    """Returns which number was compared with which bound, if any was."""
    evidence = opening.breach.evidence or {}
    return cast("ComparedFields", {name: evidence[name] for name in COMPARED if name in evidence})


def _measured(opening: Opening) -> dict[str, Any]:
    """Returns the columns of a breach; JSON has no numbers that are not finite."""
    value, evidence = opening.breach.value, opening.breach.evidence
    return {
        "breach_value": value if value is None or math.isfinite(value) else None,
        "breach_summary": storable(opening.breach.summary, MAX_SUMMARY_LENGTH),
        "evidence": None if evidence is None else dict(evidence),
    }
