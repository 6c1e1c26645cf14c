"""Removes rows that are older than `retention.events_days`, without disturbing ingest.

Every run starts from the current rows, so it may be killed at any point or run in parallel. It
takes many small steps, each only while ingest keeps up and no other mutation is running in the
database, and leaves the rest to the next run.
"""

import threading
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from shared.foundation.clickhouse import Row
from shared.foundation.clickhouse.ddl import Ddl
from shared.foundation.clickhouse.kept import KEPT, AgingTable
from shared.foundation.clickhouse.mutations import unfinished
from shared.foundation.core.logs import get_logger
from shared.foundation.core.tracing import spans
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import single_flight
from shared.foundation.queue import unavailable_when_redis_is_gone
from shared.foundation.queue.jobs import APPLY_RETENTION
from shared.intake.ingest import backlog
from shared.upkeep.retention import statements
from shared.upkeep.retention.limits import RetentionLimit, days_of, limits

log = get_logger(__name__)

# Above either value ingest is busy.
BACKLOG_SHARE = 0.1
LAG_SECS = 5.0
# On Sundays hidden rows that no merge has removed are taken off the disk. Doing so every night
# would rewrite a month of events for one day of them.
REWRITE_WEEKDAY = 6
_POLL_SECS = 0.1

_WITH_HIDDEN_ROWS = """
SELECT DISTINCT table, partition_id FROM {parts}
WHERE database = {{database:String}} AND active AND has_lightweight_delete
ORDER BY table, partition_id
"""

Removed = Mapping[str, Mapping[str, int]]


def apply(runtime: Runtime, stopping: threading.Event, now: datetime) -> Removed:
    """Removes rows that are old at `now`; counts them by organization and table, copies as one.

    Does nothing if another process is at work. Ends early, with a line in the log, while ingest is
    behind or mutations are running, and when `stopping` is set. Raises `Unavailable` if a store is
    down.
    """
    with single_flight(runtime.postgres, APPLY_RETENTION.actor) as alone:
        return _Run(runtime, stopping, now).run() if alone else {}


class _NextRun(Exception):
    """A reason to leave the rest to the next run; the message goes to the log."""


class _Run:
    def __init__(self, runtime: Runtime, stopping: threading.Event, now: datetime) -> None:
        self._runtime = runtime
        self._clickhouse = runtime.clickhouse
        self._stopping = stopping
        self._now = now
        self._limits = limits(runtime.postgres, runtime.settings, now)
        self._removed: dict[str, Counter[str]] = defaultdict(Counter)

    def run(self) -> Removed:
        try:
            for kept in KEPT:
                for month, (old_limits, counts) in self._find(kept).items():
                    with spans.work(APPLY_RETENTION.actor):
                        self._remove(kept, month, old_limits)
                    for org_id, rows in counts.items():
                        self._removed[org_id][kept.table] += rows
                    self._wait()
            if self._now.weekday() == REWRITE_WEEKDAY:
                self._write_again()
        except _NextRun as reason:
            log.info("retention_postponed", reason=str(reason))
        finally:
            self._tell()
        return self._removed

    def _find(self, kept: AgingTable) -> dict[int, tuple[list[RetentionLimit], Counter[str]]]:
        """Returns by month the limits that have old rows, and the numbers of these rows."""
        found: dict[int, tuple[list[RetentionLimit], Counter[str]]] = defaultdict(
            lambda: ([], Counter())
        )
        for limit in self._limits if kept.moment is not None else ():
            old = statements.old_rows(kept, [limit])
            if not self._rows(statements.any_candidate(kept), old.params):
                continue
            months: dict[int, Counter[str]] = defaultdict(Counter)
            for org_id, month, rows in self._rows(statements.count(kept, old), old.params):
                months[month][org_id] = rows
            for month, counts in months.items():
                found[month][0].append(replace(limit, org_ids=tuple(sorted(counts))))
                found[month][1].update(counts)
        return dict(sorted(found.items()))

    def _remove(self, kept: AgingTable, month: int, old_limits: list[RetentionLimit]) -> None:
        old = statements.old_rows(kept, old_limits)
        nothing_remains = (
            kept.by_month
            and statements.is_over(month, old_limits)
            and not self._rows(statements.anything_else(kept, old, month), old.params)
        )
        statement = statements.remove if nothing_remains else statements.hide
        self._require_quiet()
        Ddl(self._clickhouse).run(statement(kept, old, month), old.params)

    def _write_again(self) -> None:
        """Takes the hidden rows off the disk."""
        layout = self._clickhouse.layout
        sql = _WITH_HIDDEN_ROWS.format(parts=layout.everywhere("system.parts"))
        for table, partition_id in self._clickhouse.rows(sql, {"database": layout.database}):
            self._require_quiet()
            Ddl(self._clickhouse).run(statements.write_again(layout.public(table), partition_id))
            log.info("retention_wrote_again", table=layout.public(table), partition=partition_id)
            self._wait()

    def _rows(self, template: str, params: Mapping[str, object]) -> list[Row]:
        [sql] = self._clickhouse.layout.statements(template)
        return self._clickhouse.rows(sql, params, settings=statements.QUIET)

    def _require_quiet(self) -> None:
        """Raises `_NextRun` unless there is capacity for a mutation."""
        if self._stopping.is_set():
            raise _NextRun("this worker stops")
        running = unfinished(self._clickhouse)
        if running:
            raise _NextRun(
                f"a mutation of {running[0].table} is under way{_why(running[0].failure)}"
            )
        with unavailable_when_redis_is_gone():
            waiting = sum(backlog.measure(self._runtime.redis).values())
            lag = backlog.lag_secs(self._runtime.redis)
        if waiting > self._runtime.settings.ingest_backlog_bytes * BACKLOG_SHARE or lag > LAG_SECS:
            raise _NextRun("ingest is behind")

    def _wait(self) -> None:
        """Waits until no mutation is left; ClickHouse retries a failed one by itself."""
        while running := unfinished(self._clickhouse):
            for mutation in running:
                if mutation.failure:
                    raise _NextRun(f"a mutation of {mutation.table} fails: {mutation.failure}")
            if self._stopping.wait(_POLL_SECS):
                raise _NextRun("this worker stops; its mutation goes on")

    def _tell(self) -> None:
        days = days_of(self._limits)
        for org_id, rows in sorted(self._removed.items()):
            log.info("retention_applied", org_id=org_id, days=days[org_id], **rows)


def _why(failure: str) -> str:
    return f", which fails: {failure}" if failure else ""
