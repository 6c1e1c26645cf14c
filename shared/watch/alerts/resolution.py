"""A rule after a person resolved its incident: what was before never opens another one."""

import uuid
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.foundation.core.errors import Invalid
from shared.foundation.core.ids import parse_uuid
from shared.foundation.postgres import present_time
from shared.watch.alerts.models import AlertState
from shared.watch.incidents.models import Incident

MAX_SNOOZE_SECS = 30 * 86_400
# SQL names its own window, which nothing can shorten. A day is longer than most of them, and short
# enough that a problem that never ends is not forgotten.
MAX_HOLD = timedelta(days=1)


def begin_after(session: Session, org_id: uuid.UUID, incident_id: str, *, snooze_secs: int) -> None:
    """Lets the windows of the incident's rule begin now, or when it was snoozed for `snooze_secs`.

    Call it before the incident is locked: every transaction with both locks the rule's state first.
    An evaluation that is under way does not count. A rule of SQL that breaches now is held until it
    is evaluated without a breach, for `MAX_HOLD` at most; a snooze takes the place of that. Raises
    `Invalid` naming `snooze_secs` for a bad time, and for an incident without a rule.
    """
    if not 0 <= snooze_secs <= MAX_SNOOZE_SECS:
        raise Invalid.field("snooze_secs", f"must be between 0 and {MAX_SNOOZE_SECS}")
    alert_of = select(Incident.alert_id).where(
        Incident.org_id == org_id, Incident.id == parse_uuid(incident_id)
    )
    locked = select(AlertState).where(
        AlertState.org_id == org_id, AlertState.alert_id == alert_of.scalar_subquery()
    )
    state = session.scalars(locked.with_for_update()).one_or_none()
    if state is not None:
        present = present_time(session)
        state.begins_at = present + timedelta(seconds=snooze_secs)
        is_held = state.is_sql and not snooze_secs and state.recent[-1:] == [True]
        state.held_until = present + MAX_HOLD if is_held else None
        state.recent, state.clean = [], 0
        state.lease_token = state.lease_expires_at = None
        session.flush()
    elif snooze_secs:
        raise Invalid.field("snooze_secs", "must be 0: no alert opened this incident")
