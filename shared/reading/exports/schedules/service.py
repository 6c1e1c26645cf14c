"""Schedules as operators and people see them: what is on, which files there are, what to redo."""

import uuid
from datetime import datetime

from sqlalchemy import and_, func, or_, select, text, update
from sqlalchemy.orm import Session

from shared.foundation.core.errors import Conflict
from shared.reading.exports.schedules.models import ExportFile, ExportSchedule
from shared.reading.exports.schedules.periods import Every, period_at

DEFAULT_PAGE, MAX_PAGE = 50, 200

# Schedules follow the settings. A change of the interval begins a new series in the period of the
# moment; the files of the series before stay.
_FOLLOW = text("""
WITH wanted AS (
    SELECT setting.org_id, setting.value #>> '{}' AS every
    FROM organization_settings AS setting JOIN organizations AS org ON org.id = setting.org_id
    WHERE setting.key = 'exports.schedule' AND setting.value #>> '{}' <> 'off'
        AND org.deleted_at IS NULL
), ended AS (
    DELETE FROM export_schedules AS schedule
    WHERE NOT EXISTS (SELECT FROM wanted WHERE wanted.org_id = schedule.org_id)
)
INSERT INTO export_schedules AS schedule (org_id, every, since, next_look_at, full_look_at)
SELECT org_id, every,
    date_trunc(CASE every WHEN 'daily' THEN 'day' ELSE 'hour' END, now(), 'UTC'), now(), now()
FROM wanted
ON CONFLICT (org_id) DO UPDATE SET every = excluded.every, since = excluded.since,
    next_look_at = excluded.next_look_at, full_look_at = excluded.full_look_at
WHERE schedule.every <> excluded.every
""")


def follow_settings(session: Session) -> None:
    """Begins, changes and ends schedules as the settings of organizations say."""
    session.execute(_FOLLOW)


def schedule_of(session: Session, org_id: uuid.UUID) -> ExportSchedule | None:
    """Returns the schedule of an organization; None while it has none."""
    return session.get(ExportSchedule, org_id)


def files_of(session: Session, org_id: uuid.UUID, *, limit: int, offset: int) -> list[ExportFile]:
    """Lists the files that were written, those of the newest periods first."""
    query = (
        select(ExportFile)
        .where(ExportFile.org_id == org_id, ExportFile.written_at.is_not(None))
        .order_by(ExportFile.starts_at.desc(), ExportFile.every, ExportFile.rows)
        .limit(limit)
        .offset(offset)
    )
    return list(session.scalars(query))


def begin_at(session: Session, org_id: uuid.UUID, since: datetime) -> ExportSchedule:
    """Lets the files begin with the period of `since`; raises `Conflict` without a schedule.

    Only an earlier beginning changes anything: files that exist stay up to date.
    """
    schedule = _required(session, org_id)
    every: Every = "daily" if schedule.every == "daily" else "hourly"
    schedule.since = min(schedule.since, period_at(every, since).start)
    look_again(session, org_id)
    return schedule


def write_again(session: Session, org_id: uuid.UUID, since: datetime, until: datetime) -> int:
    """Has the files of all periods that begin in a range written again; returns their number.

    Raises `Conflict` without a schedule.
    """
    _required(session, org_id)
    stale = (
        update(ExportFile)
        .where(
            ExportFile.org_id == org_id,
            ExportFile.starts_at >= since,
            ExportFile.starts_at < until,
        )
        .values(fingerprint="")
        .returning(ExportFile.name)
    )
    marked = session.execute(stale).all()
    look_again(session, org_id)
    return len(marked)


def rows_changed(session: Session, org_id: uuid.UUID, since: datetime, until: datetime) -> None:
    """Has the files written again that have events of a range, or sessions with such events."""
    files = update(ExportFile).where(
        ExportFile.org_id == org_id,
        ExportFile.ends_at > since,
        # A session is in the file of its last event, which may come later.
        or_(
            ExportFile.rows == "sessions",
            and_(ExportFile.rows == "events", ExportFile.starts_at < until),
        ),
    )
    session.execute(files.values(fingerprint=""))
    look_again(session, org_id)


def look_again(session: Session, org_id: uuid.UUID) -> None:
    """Compares all files of an organization with its rows soon, for example after a deletion."""
    session.execute(
        update(ExportSchedule)
        .where(ExportSchedule.org_id == org_id)
        .values(next_look_at=func.now(), full_look_at=func.now())
    )


def _required(session: Session, org_id: uuid.UUID) -> ExportSchedule:
    follow_settings(session)
    query = select(ExportSchedule).where(ExportSchedule.org_id == org_id).with_for_update()
    schedule = session.scalars(query).one_or_none()
    if schedule is None:
        raise Conflict(
            "the organization has no scheduled exports: set exports.schedule to hourly or daily",
            code="no_export_schedule",
        )
    return schedule
