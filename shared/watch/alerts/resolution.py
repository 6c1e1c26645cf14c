"""A rule after a person resolved its incident: what was before never opens another one."""

import uuid
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.foundation.core.clock import to_us
from shared.foundation.core.errors import Invalid
from shared.foundation.core.ids import parse_uuid
from shared.foundation.postgres import present_time
from shared.watch.alerts import groups
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
    is evaluated without a breach, for `MAX_HOLD` at most; a snooze takes the place of that. If the
    incident is that of a group or a budget, the rule's other groups go on as before. Raises
    `Invalid` naming `snooze_secs` for a bad time, and for an incident without a rule.
    """
    if not 0 <= snooze_secs <= MAX_SNOOZE_SECS:
        raise Invalid.field("snooze_secs", f"must be between 0 and {MAX_SNOOZE_SECS}")
    is_incident = (Incident.org_id == org_id) & (Incident.id == parse_uuid(incident_id))
    alert_of = select(Incident.alert_id).where(is_incident)
    locked = select(AlertState).where(
        AlertState.org_id == org_id, AlertState.alert_id == alert_of.scalar_subquery()
    )
    state = session.scalars(locked.with_for_update()).one_or_none()
    if state is not None:
        begins_at = present_time(session) + timedelta(seconds=snooze_secs)
        columns = select(Incident.breach_group, Incident.level).where(is_incident)
        group, level = session.execute(columns).one()
        if group is None and level is None:
            _begin(state, begins_at, is_snoozed=snooze_secs > 0)
        # A budget counts all of its period, and tells no level twice anyway.
        elif level is None or snooze_secs:
            resting = {"begins_at": to_us(begins_at)}
            state.groups = {**state.groups, groups.value_in(group): resting}
        state.lease_token = state.lease_expires_at = None
        session.flush()
    elif snooze_secs:
        raise Invalid.field("snooze_secs", "must be 0: no alert opened this incident")


def _begin(state: AlertState, begins_at: datetime, *, is_snoozed: bool) -> None:
    is_held = state.is_sql and not is_snoozed and state.recent[-1:] == [True]
    state.begins_at = begins_at
    state.held_until = begins_at + MAX_HOLD if is_held else None
    state.recent, state.clean = [], 0
