"""The backfill of an organization, as a command runs it; one that was killed goes on.

Copies are written as those of repricings are (`shared.upkeep.repricings.running`).
"""

import threading
import uuid
from datetime import datetime
from typing import NamedTuple

from sqlalchemy.orm import Session

from shared.foundation.clickhouse.event_columns import DIMENSION_NAMES
from shared.foundation.clickhouse.where import Where, moment
from shared.foundation.core.clock import from_us, now, to_us
from shared.foundation.core.errors import Conflict, Invalid
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import single_flight
from shared.intake.ingest.rules import IngestRulesCache
from shared.reading.dimensions.completeness import filled_since
from shared.reading.dimensions.models import DimensionBackfill
from shared.reading.exports.schedules import service as export_schedules
from shared.upkeep.dimensions import filling
from shared.upkeep.dimensions.filling import Columns, FilledRows
from shared.upkeep.retention.limits import kept_from
from shared.upkeep.rewriting import writing, yielding
from shared.upkeep.rewriting.places import Place
from shared.upkeep.rewriting.rounds import Rounds


class BackfillResult(NamedTuple):
    """The events that a backfill read, those that it filled, and its range."""

    events: int
    filled: int
    since: datetime | None
    until: datetime
    complete_since: datetime | None


def backfill(
    runtime: Runtime, org_id: uuid.UUID, since: datetime | None, until: datetime | None
) -> BackfillResult:
    """Fills the dimensions of the events from `since` (None: all) to before `until` (None: now).

    Goes on with one of the same range that did not end. Raises `Invalid` for an empty range, and
    `Conflict` while another process fills the organization.
    """
    if since is not None and until is not None and since >= until:
        raise Invalid.field("until", "must be later than since")
    with single_flight(runtime.postgres, f"dimensions:{org_id}") as alone:
        if not alone:
            raise Conflict(
                "another process fills the dimensions of this organization: wait for it",
                code="backfill_running",
            )
        return _Backfill(runtime, org_id).run(since, until)


class _Backfill:
    def __init__(self, runtime: Runtime, org_id: uuid.UUID) -> None:
        self._runtime = runtime
        self._id = org_id
        self._org = str(org_id)
        self._rules = IngestRulesCache(runtime)([self._org])[self._org].dimensions

    def run(self, since: datetime | None, until: datetime | None) -> BackfillResult:
        place, stop = self._begin(since, until)
        rounds = Rounds(stop)
        while place.ts < stop:
            yielding.let_ingest_by(self._runtime, threading.Event())
            columns, place = rounds.next(place, self._read, filling.bytes_of)
            self._write(
                filling.fill(columns, self._rules), place, len(columns[0]) if columns else 0
            )
        return self._end()

    def _begin(self, since: datetime | None, until: datetime | None) -> tuple[Place, int]:
        """Returns the place from which to go on, and the end."""
        with self._runtime.postgres.transaction() as session:
            row = session.get(DimensionBackfill, self._id)
            if (
                row is None
                or row.place is None
                or row.starts_at != since
                or (until is not None and row.ends_at != until)
            ):
                first = self._oldest() if since is None else to_us(since)
                row = row or DimensionBackfill(org_id=self._id)
                row.starts_at, row.ends_at = since, until or now()
                row.place, row.events, row.filled = list(Place(first)), 0, 0
                session.add(row)
            return Place.of(row.place or []), to_us(row.ends_at)

    def _oldest(self) -> int:
        rows = self._runtime.clickhouse.rows(
            "SELECT toUnixTimestamp64Micro(ts) FROM events WHERE org_id = {org_id:String}"
            " ORDER BY ts LIMIT 1",
            {"org_id": self._org},
        )
        return int(rows[0][0]) if rows else to_us(now())

    def _read(self, place: Place, stop: int, limit: int) -> Columns:
        where = place.add_after(Where(self._org)).add(f"ts < {moment('stop')}", stop=stop)
        # What retention removes now must not come back.
        where.between("ts", kept_from(self._runtime, self._id), None)
        return filling.read(self._runtime.clickhouse, where, limit)

    def _write(self, found: FilledRows, place: Place, events: int) -> None:
        with self._runtime.postgres.transaction() as session:
            writing.write_kept(
                session,
                self._runtime.clickhouse,
                self._id,
                found.keys,
                DIMENSION_NAMES,
                found.values,
            )
            row = self._row(session)
            row.place = list(place)
            row.events += events
            row.filled += len(found.keys)

    def _end(self) -> BackfillResult:
        with self._runtime.postgres.transaction() as session:
            row = self._row(session)
            known = filled_since(session, self._runtime.clickhouse, self._id)
            if known is not None and row.ends_at >= known:
                row.filled_all = row.starts_at is None
                row.filled_since = row.starts_at and min(known, row.starts_at)
            row.place = None
            session.flush()
            if row.filled:
                first = row.starts_at or from_us(0)
                export_schedules.rows_changed(session, self._id, first, row.ends_at)
            return BackfillResult(
                row.events,
                row.filled,
                row.starts_at,
                row.ends_at,
                filled_since(session, self._runtime.clickhouse, self._id),
            )

    def _row(self, session: Session) -> DimensionBackfill:
        return session.get_one(DimensionBackfill, self._id)
