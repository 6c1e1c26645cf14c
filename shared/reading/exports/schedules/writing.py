"""Writes the file of a period: the rows that `GET /v1/exports/…` answers for its time."""

from collections.abc import Iterator, Sequence

from sqlalchemy import ColumnElement, case, delete, update
from sqlalchemy.dialects.postgresql import insert

from shared.access import audit_log
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.clock import format_ts
from shared.foundation.objects import Objects
from shared.foundation.postgres import Postgres, transaction_time
from shared.foundation.queue.leased_step import HeldRow, Lost
from shared.reading.evaluations.filters import EvaluationFilters
from shared.reading.events.filters import EventFilters
from shared.reading.exports import formats, pages
from shared.reading.exports.columns import Row, What
from shared.reading.exports.formats import Format
from shared.reading.exports.schedules.fingerprints import Fingerprint
from shared.reading.exports.schedules.models import ExportFile, ExportSchedule
from shared.reading.exports.schedules.periods import Period
from shared.reading.sessions.selection import SessionFilters

LEASE_SECS = 60.0
# The fingerprint of a file while it is written. Whoever changes rows meanwhile empties it.
_BEING_WRITTEN = "being written"


class Files:
    """The files of one organization, for a worker that holds its schedule."""

    def __init__(
        self,
        postgres: Postgres,
        clickhouse: ClickHouse,
        target: Objects,
        held: HeldRow[ExportSchedule],
    ) -> None:
        self._postgres = postgres
        self._clickhouse = clickhouse
        self._target = target
        self._held = held
        self._org_id = held.row.org_id

    def write(
        self, what: What, format_: Format, period: Period, wanted: Fingerprint, before: str | None
    ) -> int:
        """Writes a file, in place of the one named `before`; returns its number of rows.

        A worker that was killed on the way leaves a fingerprint of no rows, and the next one writes
        the file again. A worker that lost its lease while it wrote does the same: its file may have
        replaced a newer one. So does one whose rows were changed meanwhile, as a repricing does.
        """
        name = period.name(what, format_)
        self._mark(what, period, name)
        rows = 0

        def counted() -> Iterator[Sequence[Row]]:
            nonlocal rows
            for page in _pages(self._clickhouse, str(self._org_id), what, period):
                self._held.require_leave()
                rows += len(page)
                yield page

        size = self._target.put(self._path(name), formats.encoded(what, format_, counted()))
        if before is not None and before != name:
            self._target.delete(self._path(before))
        # A session is known a moment before its first events can be read.
        is_whole = what != "sessions" or rows == wanted.rows
        self._finish(what, period, name, wanted.text if is_whole else "", rows, size)
        return rows

    def remove(self, what: What, period: Period, name: str) -> None:
        """Removes the file of a period that has no rows any more."""
        self._target.delete(self._path(name))
        with self._postgres.transaction() as session:
            session.execute(delete(ExportFile).where(*self._is(what, period)))
            audit_log.record(session, self._org_id, f"{what}.export_removed", target=name)

    def _path(self, name: str) -> str:
        return f"{self._org_id}/{name}"

    def _is(self, what: What, period: Period) -> Sequence[ColumnElement[bool]]:
        return (
            ExportFile.org_id == self._org_id,
            ExportFile.rows == what,
            ExportFile.every == period.every,
            ExportFile.starts_at == period.start,
        )

    def _mark(self, what: What, period: Period, name: str) -> None:
        """Says that the file is being written.

        A file that exists keeps its name until the new one is there, so that it is removed then.
        """
        key = {
            "org_id": self._org_id,
            "rows": what,
            "every": period.every,
            "starts_at": period.start,
        }
        mark = {"fingerprint": _BEING_WRITTEN}
        with self._postgres.transaction() as session:
            session.execute(
                insert(ExportFile)
                .values(**key, **mark, name=name, ends_at=period.end)
                .on_conflict_do_update(index_elements=list(key), set_=mark)
            )

    def _finish(
        self, what: What, period: Period, name: str, fingerprint: str, rows: int, size: int
    ) -> None:
        with self._postgres.transaction() as session:
            is_held = self._held.lease.renew(session, LEASE_SECS)
            is_unchanged = ExportFile.fingerprint == _BEING_WRITTEN
            session.execute(
                update(ExportFile)
                .where(*self._is(what, period))
                .values(
                    name=name,
                    fingerprint=case((is_unchanged, fingerprint if is_held else ""), else_=""),
                    row_count=rows,
                    bytes=size,
                    writes=ExportFile.writes + 1,
                    written_at=transaction_time(session),
                )
            )
            after = {
                "ts_from": format_ts(period.start),
                "ts_to": format_ts(period.end),
                "rows": rows,
            }
            audit_log.record(session, self._org_id, f"{what}.export", target=name, after=after)
        if not is_held:
            raise Lost


def _pages(
    clickhouse: ClickHouse, org_id: str, what: What, period: Period
) -> Iterator[Sequence[Row]]:
    span = {"ts_from": period.start, "ts_to": period.end}
    if what == "events":
        return pages.of_events(clickhouse, org_id, EventFilters(**span))
    if what == "sessions":
        return pages.of_sessions(clickhouse, org_id, SessionFilters(**span))
    return pages.of_evaluations(clickhouse, org_id, EvaluationFilters(**span))
