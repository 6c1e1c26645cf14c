"""Incidents below the web tier, for other tests."""

from dataclasses import replace
from typing import Any

from shared.foundation.core.actor import Actor
from shared.foundation.core.ids import new_id
from shared.foundation.deployment.runtime import Runtime
from shared.watch.alerts.models import Alert, AlertState
from shared.watch.alerts.opening import measured
from shared.watch.incidents import activity
from shared.watch.incidents.folding import OpenedIncident, open_or_fold
from shared.watch.incidents.models import Incident
from shared.watch.incidents.opening import Breach, Opening
from tests.support.people import add_member, new_email
from tests.support.runtime import Org


def add_alert(runtime: Runtime, org: Org, **columns: Any) -> Alert:
    """Adds a rule that is never evaluated."""
    values = {
        "name": "Errors rise",
        "enabled": True,
        "trigger_kind": "metric_threshold",
        "trigger_spec": {},
        "severity": "critical",
        "min_breaches": 1,
        "eval_window": 1,
        "eval_interval_secs": 300,
        "channels": [{"kind": "dashboard"}],
        "created_by": "t",
        **columns,
    }
    with runtime.postgres.transaction() as session:
        alert = Alert(org_id=org.uuid, **values)
        session.add(alert)
        session.flush()
        session.add(AlertState(alert_id=alert.id, org_id=org.uuid))
    return alert


def opening_of(alert: Alert, value: float | None = 0.5, **fields: Any) -> Opening:
    """Returns a breach of an alert, as its evaluation hands it over."""
    opening = measured(alert, Breach(value, f"error_rate is {value}", {"value": value}))
    return replace(opening, **fields)


def breach(runtime: Runtime, opening: Opening) -> OpenedIncident:
    """Opens an incident or folds into it, in a separate transaction."""
    with runtime.postgres.transaction() as session:
        return open_or_fold(session, opening)


def open_incident(runtime: Runtime, org: Org, **alert: Any) -> Incident:
    """Opens an incident of a new alert."""
    return breach(runtime, opening_of(add_alert(runtime, org, **alert))).incident


def stored(runtime: Runtime, incident: Incident) -> Incident:
    """Returns the incident from the database."""
    with runtime.postgres.transaction() as session:
        return session.get_one(Incident, incident.id)


def kinds(runtime: Runtime, incident: Incident) -> list[str]:
    """Returns the kinds of its activity, oldest first."""
    with runtime.postgres.transaction() as session:
        return [one.kind for one in activity.of_incident(session, incident.org_id, incident.id)]


def new_actor(runtime: Runtime, org: Org, *permissions: str) -> Actor:
    """Returns a new member with the set `admin` and no further permissions."""
    email = new_email()
    return Actor(add_member(runtime, org, *permissions, email=email), email, email)


def key_actor(name: str = "robot") -> Actor:
    """Returns a key that acts for no member."""
    return Actor(new_id(), name, None)
