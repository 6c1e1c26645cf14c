"""Carries out repricings in rounds; any step may be repeated after a kill.

A round reads some thousand calls, counts them, and commits the figures with the place that they
reach. Then it writes copies of the calls that differ, and commits that place again. A worker that
takes over writes what was counted and not yet written, and counts nothing of it.

Copies are written with the organization held, as ingest stores events, and without the sessions
that were deleted: so a deletion or a purge sees all of them, or none is written.
"""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from shared.foundation.core.clock import to_us
from shared.foundation.core.errors import NotFound, Unavailable, WatchpostError
from shared.foundation.core.logs import get_logger, request_context
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import leases, transaction_time
from shared.foundation.queue.jobs import REPRICE_CALLS
from shared.foundation.queue.leased_step import HeldRow, Later, Lost, work
from shared.intake.ingest.stored_calls import CALL_VALUES
from shared.reading.exports.schedules import service as export_schedules
from shared.reading.prices.book import PriceBook
from shared.reading.prices.builtin import builtin_prices
from shared.reading.prices.service import book_of, snapshot_of
from shared.upkeep.repricings import calls, service
from shared.upkeep.repricings.calls import CallFilter, Columns, RepricedRound
from shared.upkeep.repricings.figures import RepricingFigures
from shared.upkeep.repricings.models import LIVE, Repricing
from shared.upkeep.retention.limits import kept_from
from shared.upkeep.rewriting import writing, yielding
from shared.upkeep.rewriting.places import Place
from shared.upkeep.rewriting.rounds import Rounds

log = get_logger(__name__)

LEASE_SECS = 60.0
_RETRY_SECS, _BROKEN_SECS = 10.0, 30.0

_NEXT = text(f"""
SELECT repricing.id FROM repricings AS repricing
JOIN organizations AS org ON org.id = repricing.org_id
WHERE repricing.{LIVE} AND org.deleted_at IS NULL
    AND (CAST(:org_id AS uuid) IS NULL OR repricing.org_id = :org_id)
    AND (repricing.lease_expires_at IS NULL
        OR repricing.lease_expires_at <= statement_timestamp())
ORDER BY repricing.lease_expires_at NULLS FIRST, repricing.created_at
LIMIT 1
FOR UPDATE OF repricing SKIP LOCKED
""")


class Repricings:
    """One thread's turn at the repricings; `org_id` limits it to one organization."""

    def __init__(
        self, runtime: Runtime, stopping: threading.Event, *, org_id: uuid.UUID | None = None
    ) -> None:
        self._runtime = runtime
        self._stopping = stopping
        self._org_id = org_id

    def run(self) -> int:
        """Works until nothing can be done now; returns the number of turns."""
        return work(
            self._runtime, REPRICE_CALLS, self._claim, self._step, self._stopping, LEASE_SECS
        )

    def _claim(self, session: Session) -> HeldRow[Repricing] | None:
        found = session.execute(_NEXT, {"org_id": self._org_id}).scalar_one_or_none()
        if found is None:
            return None
        mine = Repricing.id == found
        lease, [(row,)] = leases.take(session, Repricing, mine, LEASE_SECS, (Repricing,))
        return HeldRow(lease, row)

    def _step(self, held: HeldRow[Repricing]) -> None:
        row = held.row
        with request_context(row.request_id, repricing_id=str(row.id)):
            step = _Round(self._runtime, held)
            log.info("repricing_step", step=step.outcome(), calls=step.calls)


class _Round:
    """One worker's hold on a repricing."""

    def __init__(self, runtime: Runtime, held: HeldRow[Repricing]) -> None:
        self._runtime = runtime
        self._held = held
        self._row = held.row
        self._org = str(held.row.org_id)
        self._wanted = CallFilter(*(getattr(held.row, name) for name in CallFilter._fields))

    @property
    def calls(self) -> int:
        """The calls that were counted so far."""
        return RepricingFigures.of(self._row.figures).calls

    def outcome(self) -> str:
        """Goes as far as possible; returns the outcome for the log."""
        try:
            return self._go_on()
        except Later as later:
            return self._give_back("waits", later.secs)
        except (Lost, NotFound):
            return "lost"
        except Unavailable:
            return self._give_back("put_off", 0.0 if self._held.stopping.is_set() else _RETRY_SECS)
        except WatchpostError as error:
            return self._end("failed", error=error.message)
        except Exception:
            # Left for another try: a run must not end halfway for a defect elsewhere.
            log.exception("repricing_broke")
            return self._give_back("broke", _BROKEN_SECS)

    def _go_on(self) -> str:
        if self._row.state == "queued":
            self._start()
        start, stop = to_us(self._row.starts_at), to_us(self._row.ends_at)
        builtin = builtin_prices(self._runtime.settings.model_prices_file)
        book = book_of(self._row.prices or [], builtin)
        place = calls.place_of(self._row.counted, start)
        if not self._row.dry_run and self._row.counted != self._row.written:
            done = calls.place_of(self._row.written, start)
            self._write(calls.reprice(book, self._between(done, place)), place)
        self._rounds(book, Rounds(stop), place, stop)
        return self._end("cancelled" if self._row.is_cancelled else "done")

    def _rounds(self, book: PriceBook, rounds: Rounds, place: Place, stop: int) -> None:
        """Counts and writes round by round; the next one is computed while one is written."""

        def computed(after: Place) -> tuple[RepricedRound, Place]:
            columns, last = rounds.next(after, self._read, calls.bytes_of)
            return calls.reprice(book, columns), last

        with ThreadPoolExecutor(1) as pool:
            coming = pool.submit(computed, place)
            while place.ts < stop and not self._row.is_cancelled:
                yielding.let_ingest_by(self._runtime, self._held.stopping)
                self._held.require_leave()
                found, place = coming.result()
                if place.ts < stop:
                    coming = pool.submit(computed, place)
                self._count(found, place)
                if not self._row.dry_run:
                    self._write(found, place)

    def _start(self) -> None:
        with self._runtime.postgres.transaction() as session:
            self._row = self._changed(
                session,
                state="running",
                started_at=transaction_time(session),
                prices=snapshot_of(session, self._row.org_id),
            )

    def _count(self, found: RepricedRound, place: Place) -> None:
        """Adds the calls of a round to the figures, and commits the place."""
        figures = RepricingFigures.of(self._row.figures).plus(found.calls)
        with self._runtime.postgres.transaction() as session:
            self._row = self._changed(session, counted=list(place), figures=figures.stored())

    def _read(self, place: Place, stop: int, limit: int) -> Columns:
        where = calls.conditions(self._org, self._wanted)
        calls.before(place.add_after(where), stop)
        return calls.read(self._runtime.clickhouse, self._kept(where), limit)

    def _between(self, done: Place, place: Place) -> Columns:
        where = place.add_until(done.add_after(calls.conditions(self._org, self._wanted)))
        return calls.read(self._runtime.clickhouse, self._kept(where), 2**32)

    def _kept(self, where: Any) -> Any:
        """Leaves out what retention removes now: it must not come back."""
        since = kept_from(self._runtime, self._row.org_id)
        return where.between("ts", since, None)

    def _write(self, found: RepricedRound, place: Place) -> None:
        """Writes copies of calls with their new values, and commits the place."""
        with self._runtime.postgres.transaction() as session:
            self._require_held(session)
            writing.write_kept(
                session,
                self._runtime.clickhouse,
                self._row.org_id,
                found.keys,
                CALL_VALUES,
                found.values,
            )
            self._row = self._changed(session, written=list(place))

    def _changed(self, session: Session, **values: Any) -> Repricing:
        """Sets columns while this worker holds the row; returns the row."""
        if not self._held.lease.renew(session, LEASE_SECS, **values):
            raise Lost
        return session.scalars(select(Repricing).where(Repricing.id == self._row.id)).one()

    def _require_held(self, session: Session) -> None:
        held = select(Repricing.id).where(self._held.lease.held).with_for_update()
        if session.scalars(held).one_or_none() is None:
            raise Lost

    def _give_back(self, outcome: str, secs: float) -> str:
        with self._runtime.postgres.transaction() as session:
            self._held.lease.end(session, lease_expires_at=leases.in_secs(secs))
        return outcome

    def _end(self, state: str, *, error: str | None = None) -> str:
        with self._runtime.postgres.transaction() as session:
            finished_at = transaction_time(session)
            ended = self._held.lease.end(
                session, state=state, error=error, finished_at=finished_at, prices=None
            )
            if ended:
                row = session.scalars(select(Repricing).where(Repricing.id == self._row.id)).one()
                service.record_end(session, row)
                if not row.dry_run:
                    # Files of scheduled exports are written again with the new costs.
                    export_schedules.rows_changed(session, row.org_id, row.starts_at, row.ends_at)
        return state
