"""Carries out deletions, step by step; any step may be repeated after a kill.

1. *Fence.* With the organization locked alone, the sessions are marked as deleted
   (`shared.reading.sessions.deleted`). Every block of events that was being stored is stored then,
   and every later one leaves these sessions out. So nothing comes back.
2. *Wait* until everything is stored that was accepted before the fence.
3. *Hide* the rows in ClickHouse, and clean PostgreSQL and Redis, until nothing is found. Then the
   words themselves leave the deletion's row.
4. *Rewrite* the parts with hidden rows, and wait until the replaced files are gone.

For a person, step 2 comes before step 1 too, so that all events that were accepted before the
request are searched; and the search is repeated after step 2. A user may have many sessions, so
steps 1 to 3 are rounds over some of them, until a search finds too few for a round.
"""

import threading
import uuid
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from shared.access import audit_log, organizations
from shared.foundation.core.errors import Conflict, NotFound, Unavailable, WatchpostError
from shared.foundation.core.logs import get_logger, request_context
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import leases, present_time, transaction_time
from shared.foundation.queue.jobs import DELETE_DATA
from shared.foundation.queue.leased_step import HeldRow, Later, Lost, work
from shared.foundation.queue.waiting import stored_until_each
from shared.reading.exports.schedules import service as export_schedules
from shared.reading.sessions import deleted
from shared.upkeep.deletions import in_clickhouse, in_postgres, in_redis
from shared.upkeep.deletions.models import LIVE, ROUND, Deletion
from shared.upkeep.deletions.service import mentions_of, person_of
from shared.upkeep.deletions.target import MAX_OF_USER, MAX_SESSIONS, NamedPerson

log = get_logger(__name__)

LEASE_SECS = 60.0
# Something else has to happen first: events that wait, a store that is down, files of old parts.
_SOON_SECS, _RETRY_SECS, _FILES_SECS = 1.0, 10.0, 30.0
# Each search may find sessions that began since the one before.
_SEARCHES = 3

_NEXT = text(f"""
SELECT deletion.id FROM deletions AS deletion
JOIN organizations AS org ON org.id = deletion.org_id
WHERE deletion.{LIVE} AND org.deleted_at IS NULL
    AND (CAST(:org_id AS uuid) IS NULL OR deletion.org_id = :org_id)
    AND (deletion.lease_expires_at IS NULL
        OR deletion.lease_expires_at <= statement_timestamp())
ORDER BY deletion.lease_expires_at NULLS FIRST, deletion.created_at
LIMIT 1
FOR UPDATE OF deletion SKIP LOCKED
""")


class Deletions:
    """One thread's turn at the deletions; `org_id` limits it to one organization."""

    def __init__(
        self, runtime: Runtime, stopping: threading.Event, *, org_id: uuid.UUID | None = None
    ) -> None:
        self._runtime = runtime
        self._stopping = stopping
        self._org_id = org_id

    def run(self) -> int:
        """Works until nothing can be done now; returns the number of turns."""
        return work(self._runtime, DELETE_DATA, self._claim, self._step, self._stopping, LEASE_SECS)

    def _claim(self, session: Session) -> HeldRow[Deletion] | None:
        found = session.execute(_NEXT, {"org_id": self._org_id}).scalar_one_or_none()
        if found is None:
            return None
        mine = Deletion.id == found
        lease, [(row,)] = leases.take(session, Deletion, mine, LEASE_SECS, (Deletion,))
        return HeldRow(lease, row)

    def _step(self, held: HeldRow[Deletion]) -> None:
        row = held.row
        with request_context(row.request_id, deletion_id=str(row.id)):
            step = _Step(self._runtime, held)
            log.info("deletion_step", step=step.outcome(), sessions=row.sessions)


class _Step:
    """One worker's hold on a deletion."""

    def __init__(self, runtime: Runtime, held: HeldRow[Deletion]) -> None:
        self._runtime = runtime
        self._clickhouse = runtime.clickhouse
        self._held = held
        self._row = held.row
        self._org = str(held.row.org_id)

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
            return self._fail(error.message)
        except Exception:
            # Left for another try: a deletion must not end halfway for a defect elsewhere.
            log.exception("deletion_broke")
            return self._give_back("broke", _FILES_SECS)

    def _go_on(self) -> str:
        with self._runtime.postgres.transaction() as session:
            self._hashing = deleted.hashing_of(session, self._row.org_id)
        while self._row.state in ("queued", "running"):
            if self._row.fenced_at is None and self._person is not None:
                self._require_stored(self._row.created_at)
            if self._row.fenced_at is None:
                self._fence(self._wanted())
            if not self._row.removed.get(ROUND):
                self._complete()
            self._remove()
        if self._row.state == "hidden":
            in_clickhouse.rewrite(self._clickhouse, self._held.stopping)
            self._change(state="rewritten", rewritten_at=self._now())
        rewritten_at = self._row.rewritten_at
        if rewritten_at is None or not in_clickhouse.is_off_the_disk(
            self._clickhouse, rewritten_at
        ):
            raise Later(_FILES_SECS)
        self._finish(state="done")
        return "done"

    def _complete(self) -> None:
        """Adds sessions that were accepted before the fence. Nothing of the round is hidden yet."""
        for _ in range(_SEARCHES):
            self._require_stored(self._row.fenced_at)
            more = set(self._wanted()) - set(self._row.session_ids or ())
            if not more:
                return
            self._fence([*(self._row.session_ids or ()), *sorted(more)])

    def _wanted(self) -> Sequence[str]:
        """Returns the sessions to delete in this round, as far as they are known now."""
        person = self._person
        if person is None:
            return self._row.session_ids or ()
        if person.user is not None:
            if self._row.state == "queued":
                self._search(person, MAX_OF_USER)
            return self._search(person)
        return self._search(person, MAX_SESSIONS)

    def _search(self, person: NamedPerson, allowed: int | None = None) -> Sequence[str]:
        """Returns the sessions of a person; raises `Conflict` for more than are allowed.

        Without a bound it returns those of one round.
        """
        found = in_clickhouse.sessions_naming(
            self._clickhouse,
            self._hashing,
            person.field,
            str(self._row.value_hash),
            MAX_SESSIONS if allowed is None else allowed + 1,
        )
        if allowed is not None and len(found) > allowed:
            raise Conflict(
                f"more than {allowed} sessions name this value: delete some by id first",
                code="too_many_sessions",
            )
        return found

    def _require_stored(self, moment: datetime | None) -> None:
        """Waits for a later turn until what was accepted before `moment` is stored."""
        [until] = stored_until_each(self._runtime.redis, [self._org])
        if moment is not None and until < moment:
            raise Later(_SOON_SECS)

    def _fence(self, session_ids: Sequence[str]) -> None:
        with self._runtime.postgres.transaction() as session:
            organizations.hold_alone(session, self._row.org_id)
            self._require_held(session)
            deleted.add(session, self._row.org_id, session_ids, self._row.id)
            self._row = self._changed(
                session,
                state="running",
                session_ids=list(session_ids),
                sessions=self._row.sessions + len(session_ids) - len(self._row.session_ids or ()),
                # Redis stamps what it accepts by its own clock; `SETTLE` covers the difference.
                fenced_at=present_time(session),
            )

    def _remove(self) -> None:
        """Removes everything of the round's sessions but the files, until nothing is found."""
        session_ids = self._row.session_ids or []
        hashes = in_clickhouse.hashes_of(self._hashing, session_ids)
        while True:
            self._clean_postgres(session_ids)
            found = 0
            for table in in_clickhouse.TABLES:
                rows = in_clickhouse.count(self._clickhouse, table, self._hashing, hashes)
                if rows:
                    found += rows
                    # Counted before they are hidden, so that a kill in between loses no count.
                    self._count(ROUND, Counter({table: rows}), at_least=True)
                    in_clickhouse.hide(
                        self._clickhouse, table, self._hashing, hashes, self._held.stopping
                    )
                self._held.require_leave()
            if not found:
                break
        self._clean_redis(session_ids)
        self._end_round(is_last=not self._is_of_user or len(session_ids) < MAX_SESSIONS)

    def _end_round(self, *, is_last: bool) -> None:
        removed = self._added("clickhouse", Counter(self._row.removed.get(ROUND, {})))
        removed.pop(ROUND, None)
        done = {"removed": removed, "session_ids": None}
        if not is_last:
            self._change(**done, fenced_at=None)
            return
        with self._runtime.postgres.transaction() as session:
            hidden_at = transaction_time(session)
            self._row = self._changed(
                session, **done, state="hidden", hidden_at=hidden_at, value=None
            )
            # Files of scheduled exports are written again without the sessions.
            export_schedules.look_again(session, self._row.org_id)

    def _clean_postgres(self, session_ids: list[str]) -> None:
        mentions = mentions_of(session_ids, self._person)
        with self._runtime.postgres.transaction() as session:
            self._require_held(session)
            removed = in_postgres.remove_of_sessions(session, self._row.org_id, session_ids)
            removed.update(in_postgres.clean(session, self._row.org_id, mentions))
            remaining = in_postgres.count_mentions(
                session, self._row.org_id, mentions, in_postgres.COUNTED
            )
            if self._is_of_user:
                # Those that name the user are counted again in each round.
                remaining = dict(Counter(self._row.remaining) | Counter(remaining))
            self._row = self._changed(
                session, removed=self._added("postgres", removed), remaining=remaining
            )

    def _clean_redis(self, session_ids: list[str]) -> None:
        mentions = mentions_of(session_ids, self._person)
        found = in_redis.clean(self._runtime.redis, self._org, session_ids, self._person, mentions)
        self._count("redis", found)

    @property
    def _person(self) -> NamedPerson | None:
        return person_of(self._row)

    @property
    def _is_of_user(self) -> bool:
        return self._person is not None and self._person.user is not None

    def _added(
        self, store: str, counts: Counter[str], *, at_least: bool = False
    ) -> dict[str, dict[str, int]]:
        """Returns the counts with more; with `at_least` the same rows may be counted again."""
        before = Counter(self._row.removed.get(store, {}))
        after = (before | counts) if at_least else before + counts
        zero = dict.fromkeys([*before, *counts], 0)
        return {**self._row.removed, store: {**zero, **after}}

    def _count(self, store: str, counts: Counter[str], *, at_least: bool = False) -> None:
        self._change(removed=self._added(store, counts, at_least=at_least))

    def _change(self, **values: Any) -> None:
        with self._runtime.postgres.transaction() as session:
            self._row = self._changed(session, **values)

    def _changed(self, session: Session, **values: Any) -> Deletion:
        """Sets columns while this worker holds the row; returns the row."""
        if not self._held.lease.renew(session, LEASE_SECS, **values):
            raise Lost
        return session.scalars(select(Deletion).where(Deletion.id == self._row.id)).one()

    def _require_held(self, session: Session) -> None:
        held = select(Deletion.id).where(self._held.lease.held).with_for_update()
        if session.scalars(held).one_or_none() is None:
            raise Lost

    def _give_back(self, outcome: str, secs: float) -> str:
        with self._runtime.postgres.transaction() as session:
            self._held.lease.end(session, lease_expires_at=leases.in_secs(secs))
        return outcome

    def _fail(self, error: str) -> str:
        self._finish(state="failed", error=error, session_ids=None, value=None)
        return "failed"

    def _finish(self, *, state: str, **values: Any) -> None:
        with self._runtime.postgres.transaction() as session:
            finished_at = transaction_time(session)
            if self._held.lease.end(session, state=state, finished_at=finished_at, **values):
                audit_log.record(
                    session,
                    self._row.org_id,
                    "deletion.finish" if state == "done" else "deletion.fail",
                    target=self._row.id,
                    after={"sessions": self._row.sessions, "removed": self._row.removed},
                )

    def _now(self) -> datetime:
        with self._runtime.postgres.transaction() as session:
            return transaction_time(session)
