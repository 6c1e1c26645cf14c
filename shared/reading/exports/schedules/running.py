"""Keeps the files of organizations equal to their rows.

A look compares the fingerprints of periods with those of their files, and writes the files that
differ: of new periods, of periods that got late events or results, and of those that lost rows to
a deletion. Nothing else is remembered, so a look may be killed at any point, or happen twice.
"""

import threading
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, cast

import sqlalchemy as sa
from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.access.organizations import Organization
from shared.access.settings import reading as settings
from shared.foundation.core.clock import format_ts
from shared.foundation.core.errors import ConfigurationError, WatchpostError
from shared.foundation.core.ids import new_request_id
from shared.foundation.core.logs import get_logger, request_context
from shared.foundation.core.metrics import catalogue
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.objects import open_objects
from shared.foundation.postgres import leases, transaction_time
from shared.foundation.queue.jobs import WRITE_EXPORTS
from shared.foundation.queue.leased_step import HeldRow, Later, Lost, work
from shared.reading.exports.columns import COLUMNS, What
from shared.reading.exports.formats import Format
from shared.reading.exports.schedules import fingerprints, service
from shared.reading.exports.schedules.fingerprints import Fingerprint
from shared.reading.exports.schedules.models import ExportFile, ExportSchedule
from shared.reading.exports.schedules.periods import Every, Period, period_at
from shared.reading.exports.schedules.writing import LEASE_SECS, Files

log = get_logger(__name__)

# A period is closed this long after its end: most late events have come by then.
SETTLE = timedelta(minutes=1)
# Late rows are looked for this often in the recent periods, and once a day in all of them.
LOOK_EVERY = timedelta(minutes=10)
RECENT = timedelta(days=3)
FULL_EVERY = timedelta(days=1)
# After a failure.
RETRY = timedelta(minutes=1)
# So many files, then other organizations have a turn.
_FILES_OF_TURN = 100

_EVER = datetime.min.replace(tzinfo=UTC)
# People of an organization read these instead of the operator's paths and variables.
_NO_TARGET = "the place for exports cannot be used: ask the operator of this deployment"
_BROKEN = "an unexpected error: ask the operator of this deployment"


class _Change(NamedTuple):
    """A file to write, or to remove if there are no rows."""

    what: What
    period: Period
    wanted: Fingerprint | None
    file: ExportFile | None


class Exports:
    """One thread's turn at the schedules; `org_id` limits it to one organization."""

    def __init__(
        self, runtime: Runtime, stopping: threading.Event, *, org_id: uuid.UUID | None = None
    ) -> None:
        self._runtime = runtime
        self._stopping = stopping
        self._org_id = org_id

    def run(self) -> int:
        """Works until no schedule is due; returns the number of looks."""
        with self._runtime.postgres.transaction() as session:
            service.follow_settings(session)
        return work(
            self._runtime, WRITE_EXPORTS, self._claim, self._look, self._stopping, LEASE_SECS
        )

    def _claim(self, session: Session) -> HeldRow[ExportSchedule] | None:
        query = (
            select(ExportSchedule.org_id)
            .join(Organization, Organization.id == ExportSchedule.org_id)
            .where(
                Organization.deleted_at.is_(None),
                sa.true() if self._org_id is None else Organization.id == self._org_id,
                ExportSchedule.next_look_at <= sa.func.statement_timestamp(),
                sa.text(leases.FREE),
            )
            .order_by(ExportSchedule.next_look_at)
            .limit(1)
            .with_for_update(of=ExportSchedule, skip_locked=True)
        )
        found = session.execute(query).scalar_one_or_none()
        if found is None:
            return None
        mine = ExportSchedule.org_id == found
        lease, [(row,)] = leases.take(session, ExportSchedule, mine, LEASE_SECS, (ExportSchedule,))
        return HeldRow(lease, row)

    def _look(self, held: HeldRow[ExportSchedule]) -> None:
        with request_context(new_request_id(), org_id=str(held.row.org_id)):
            _Look(self._runtime, held).run()


class _Look:
    """One worker's look at the files of an organization."""

    def __init__(self, runtime: Runtime, held: HeldRow[ExportSchedule]) -> None:
        self._runtime = runtime
        self._held = held
        self._row = held.row
        self._every = cast("Every", held.row.every)

    def run(self) -> None:
        """Looks, and says when the next look is due."""
        try:
            self._look()
        except Lost:
            log.info("exports_lost")
        except Later:
            self._end(timedelta(0))
        except ConfigurationError as error:
            self._fail(_NO_TARGET, str(error))
        except WatchpostError as error:
            is_ours = error.code == "target_unavailable"
            self._fail(_NO_TARGET if is_ours else error.message, error.message)
        except Exception:
            log.exception("exports_broke")
            self._fail(_BROKEN, "unexpected error")

    def _look(self) -> None:
        with self._runtime.postgres.transaction() as session:
            now = transaction_time(session)
            chosen = settings.several(
                session,
                self._runtime.settings,
                self._row.org_id,
                ("exports.format", "retention.events_days"),
            )
        is_full = self._row.full_look_at <= now
        # Retention removes whole days. A file whose rows it removed is final, also if more days are
        # kept later.
        since = max(self._row.since, _kept_from(now, chosen["retention.events_days"]))
        first = period_at(self._every, since if is_full else max(since, now - RECENT)).start
        end = period_at(self._every, now - SETTLE).start
        files, format_ = self._files(), cast("Format", chosen["exports.format"])
        for done, change in enumerate(self._changes(first, end)):
            if done == _FILES_OF_TURN:
                self._end(timedelta(0), since=since)
                return
            self._apply(files, change, format_)
        due = min(period_at(self._every, now).end + SETTLE, now + LOOK_EVERY)
        values: dict[str, Any] = {"since": since, "looked_at": sa.func.now()}
        if is_full:
            values["full_look_at"] = leases.in_secs(FULL_EVERY.total_seconds())
        self._end(due - now, **values)

    def _files(self) -> Files:
        target = self._runtime.settings.export_target
        if target is None:
            raise ConfigurationError("EXPORT_TARGET is not set: set it for web and workers")
        return Files(
            self._runtime.postgres,
            self._runtime.clickhouse,
            open_objects(target),
            self._held,
        )

    def _changes(self, start: datetime, end: datetime) -> Iterator[_Change]:
        """Yields the periods whose files differ from their rows, the oldest first."""
        if start >= end:
            return
        for what in COLUMNS:
            found = fingerprints.of_periods(
                self._runtime.clickhouse, str(self._row.org_id), what, self._every, start, end
            )
            written = self._written(what, start, end)
            for moment in sorted({*found, *written}):
                wanted, file = found.get(moment), written.get(moment)
                if wanted is None or file is None or file.fingerprint != wanted.text:
                    yield _Change(what, Period(self._every, moment), wanted, file)

    def _written(self, what: What, start: datetime, end: datetime) -> Mapping[datetime, ExportFile]:
        query = select(ExportFile).where(
            ExportFile.org_id == self._row.org_id,
            ExportFile.rows == what,
            ExportFile.every == self._every,
            ExportFile.starts_at >= start,
            ExportFile.starts_at < end,
        )
        with self._runtime.postgres.transaction() as session:
            return {file.starts_at: file for file in session.scalars(query)}

    def _apply(self, files: Files, change: _Change, format_: Format) -> None:
        self._held.require_leave()
        what, period, wanted, file = change
        before = None if file is None else file.name
        if wanted is None and before is not None:
            files.remove(what, period, before)
            outcome, rows = "removed", 0
        elif wanted is not None:
            rows = files.write(what, format_, period, wanted, before)
            outcome = "written" if file is None or file.written_at is None else "again"
        catalogue.EXPORT_FILES.add(1, outcome)
        log.info(
            "export_file", rows_of=what, start=format_ts(period.start), outcome=outcome, rows=rows
        )

    def _fail(self, told: str, reason: str) -> None:
        catalogue.EXPORT_FILES.add(1, "failed")
        log.warning("exports_failed", reason=reason)
        self._end(RETRY, error=told)

    def _end(self, wait: timedelta, *, error: str | None = None, **values: Any) -> None:
        """Frees the schedule until its next look.

        A command that changed its times during the look has its way.
        """
        times = {"next_look_at": leases.in_secs(wait.total_seconds())}
        for name in ("since", "full_look_at"):
            if name in values:
                times[name] = values.pop(name)
        for name, value in times.items():
            column = getattr(ExportSchedule, name)
            is_unchanged = column == getattr(self._row, name)
            values[name] = sa.case((is_unchanged, value), else_=column)
        with self._runtime.postgres.transaction() as session:
            self._held.lease.end(session, error=error, **values)


def _kept_from(now: datetime, days: object) -> datetime:
    """Returns the beginning of the rows that retention keeps; files from before it stay."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=days) if isinstance(days, int) and days else _EVER
