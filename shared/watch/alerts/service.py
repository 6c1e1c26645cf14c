"""Alert rules of an organization; `shared.watch.alerts.evaluation` evaluates them.

A change of anything that is evaluated resets the rule's `AlertState` in the same transaction: the
rule is due at once, and an evaluation that is under way does not count.
"""

import uuid
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from shared.access.audit_log import fields_of, record
from shared.access.organizations import creations
from shared.foundation.core.ids import parse_uuid
from shared.foundation.postgres import transaction_time
from shared.foundation.postgres.rows import change, require_columns, sizes
from shared.watch.alerts.models import Alert, AlertState
from shared.watch.alerts.rules import ROOM, AlertContent, checked

# After a change of one of these, earlier evaluations say nothing about the rule.
_TRIGGER = ("trigger_kind", "trigger_spec")
_EVALUATED = (
    "enabled",
    *_TRIGGER,
    "min_breaches",
    "eval_window",
    "eval_interval_secs",
)


def list_(session: Session, org_id: uuid.UUID) -> list[tuple[Alert, AlertState]]:
    """Lists the organization's rules with their states, newest first."""
    newest_first = _of(org_id).order_by(Alert.created_at.desc(), Alert.id)
    return [(alert, state) for alert, state in session.execute(newest_first)]


def get(session: Session, org_id: uuid.UUID, alert_id: str) -> tuple[Alert, AlertState]:
    """Returns one rule with its state; raises `NotFound`."""
    alert, state = require_columns(session, _of(org_id), Alert.id, alert_id, "alert")
    return alert, state


def create(
    session: Session, org_id: uuid.UUID, wanted: AlertContent, *, schema: str, created_by: str
) -> tuple[Alert, AlertState]:
    """Creates a rule, which is due at once if it is enabled.

    `schema` is the database of the published tables. Raises `Invalid` naming the field, `Conflict`
    if there is no room for another rule.
    """
    columns, size = checked(wanted, schema=schema)
    ROOM.require(session, _sizes(org_id), size, what="alerts")
    moment = transaction_time(session)
    alert = Alert(
        org_id=org_id, created_by=created_by, created_at=moment, updated_at=moment, **columns
    )
    session.add(alert)
    session.flush()
    state = AlertState(alert_id=alert.id, org_id=org_id, recent=[], clean=0)
    _begin_anew(session, alert, state)
    session.add(state)
    creations.record(session, org_id, "alert")
    session.flush()
    record(session, org_id, "alert.create", of=alert, after=_logged(alert))
    return alert, state


def replace(
    session: Session, org_id: uuid.UUID, alert_id: str, wanted: AlertContent, *, schema: str
) -> tuple[Alert, AlertState]:
    """Replaces the content of a rule; raises `NotFound`, and the errors of `create`.

    Its open incident stays unchanged.
    """
    columns, size = checked(wanted, schema=schema)
    alert, state = _changeable(session, org_id, alert_id)
    others = _sizes(org_id).where(Alert.id != alert.id)
    ROOM.require(session, others, size, what="alerts")
    before = _logged(alert)
    changed = any(getattr(alert, name) != columns[name] for name in _EVALUATED)
    alert.spec_revision += any(getattr(alert, name) != columns[name] for name in _TRIGGER)
    change(session, alert, columns)
    if changed:
        alert.revision += 1
        _begin_anew(session, alert, state)
    session.flush()
    record(session, org_id, "alert.update", of=alert, before=before, after=_logged(alert))
    return alert, state


def delete(session: Session, org_id: uuid.UUID, alert_id: str) -> None:
    """Deletes a rule with its incidents; raises `NotFound`."""
    alert, _state = _changeable(session, org_id, alert_id)
    session.delete(alert)
    before = _logged(alert)
    record(session, org_id, "alert.delete", of=alert, before=before)


def _logged(alert: Alert) -> dict[str, object]:
    return fields_of(alert, "name", "description", "severity", "channels", *_EVALUATED)


def _changeable(session: Session, org_id: uuid.UUID, alert_id: str) -> tuple[Alert, AlertState]:
    """Locks one rule until the transaction ends; raises `NotFound`.

    The lock is on its state, which every transaction with both locks first: recording an evaluation
    holds the state while it opens an incident of the alert.
    """
    locked = select(AlertState.alert_id).where(
        AlertState.org_id == org_id, AlertState.alert_id == parse_uuid(alert_id)
    )
    session.execute(locked.with_for_update())
    # Read after the lock is taken, so that concurrent changes are seen.
    return get(session, org_id, alert_id)


def _begin_anew(session: Session, alert: Alert, state: AlertState) -> None:
    begun: dict[str, Any] = {
        "is_sql": alert.trigger_kind == "custom_sql",
        "due_at": transaction_time(session) if alert.enabled else None,
        "last_error": None,
        "evaluated_to": None,
        "begins_at": None,
        "held_until": None,
        "recent": [],
        "clean": 0,
        "groups": {},
        "lease_token": None,
        "lease_expires_at": None,
    }
    for name, value in begun.items():
        setattr(state, name, value)


def _of(org_id: uuid.UUID) -> Select[Alert, AlertState]:
    of_alert = (AlertState.org_id == Alert.org_id) & (AlertState.alert_id == Alert.id)
    return select(Alert, AlertState).join(AlertState, of_alert).where(Alert.org_id == org_id)


def _sizes(org_id: uuid.UUID) -> Select[int]:
    of_each = sizes(Alert.name, Alert.description, Alert.trigger_spec, Alert.channels)
    return of_each.where(Alert.org_id == org_id)
