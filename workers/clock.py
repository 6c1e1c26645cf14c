"""The only scheduler: it wakes tasks at the moments when their work is due.

Workers set these moments. Every `LOOK_SECS` it also nudges all tasks, so that work whose moment or
message was lost begins too. It does no work itself. Every task may safely run twice, so the lock
only saves needless messages. A second clock stands by in case the first one stops.
"""

import signal
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
import psycopg2
from psycopg2.extensions import connection as Connection  # noqa: N812 a class by its lower-case name

from shared.foundation.core.config import Settings, load_settings
from shared.foundation.core.errors import ConfigurationError, Unavailable
from shared.foundation.core.logs import configure_logging, get_logger
from shared.foundation.core.metrics.exporter import Exporter
from shared.foundation.queue import (
    Queue,
    Task,
    append_only,
    connect_redis,
    jobs,
    make_broker,
    unavailable_when_redis_is_gone,
)

if TYPE_CHECKING:
    # Imported before `shared`, it would load OpenTelemetry.
    import redis

log = get_logger(__name__)

# Any number that no other advisory lock of this project uses.
LOCK_ID = 7_237_001
LOOK_SECS = 10.0
# Tasks that looked at once would each open a connection to PostgreSQL, and keep it.
APART_SECS = 0.05
# The lock is checked this often, and a clock that stands by tries to take it.
CHECK_SECS = 1.0
# The longest wait: the announcement of a moment may be lost.
WAIT_SECS = 1.0


@dataclass(frozen=True)
class Beat:
    """A task and the interval of its nudges, in seconds."""

    task: Task
    every: float = LOOK_SECS


BEATS: tuple[Beat, ...] = (
    Beat(jobs.PERSIST_EVENTS),
    Beat(jobs.ASSIGN_RECORDS),
    Beat(jobs.RUN_EVALUATIONS),
    Beat(jobs.CHECK_WATCHED_SESSIONS),
    Beat(jobs.SCAN_INACTIVE_SESSIONS),
    Beat(jobs.STORE_EVALUATIONS),
    Beat(jobs.TRIGGER_RUNS),
    Beat(jobs.CALL_EVALUATORS),
    # The task itself limits the reads of the evaluator to EVALUATOR_CONFIG_REFRESH_SECS.
    Beat(jobs.REFRESH_EVALUATOR_CONFIG),
    Beat(jobs.EVALUATE_ALERTS),
    Beat(jobs.EVALUATE_SQL_ALERTS),
    Beat(jobs.SCHEDULE_AUDITS),
    Beat(jobs.RUN_AUDITS),
    # The first look after a setting was changed; later ones say when they are due.
    Beat(jobs.WRITE_EXPORTS, 60.0),
    Beat(jobs.ANSWER_QUESTIONS),
    Beat(jobs.TIDY_ASSISTANT, 3600.0),
    Beat(jobs.TIDY_STREAMS, 60.0),
    Beat(jobs.SEND_MAIL),
    Beat(jobs.TIDY_MAILS, 3600.0),
    Beat(jobs.SEND_NOTIFICATIONS),
    Beat(jobs.TIDY_NOTIFICATIONS, 3600.0),
    Beat(jobs.TIDY_SIGN_IN, 600.0),
    # Reading receipts flushes them too, so this only bounds what waits in Redis.
    Beat(jobs.FLUSH_RECEIPTS, 15.0),
    Beat(jobs.TIDY_RECEIPTS, 3600.0),
    Beat(jobs.TIDY_AUDIT_LOG, 3600.0),
    Beat(jobs.DELETE_DATA),
    Beat(jobs.REPRICE_CALLS),
    Beat(jobs.SWEEP_PURGED, 15.0),
    # Data becomes old at midnight; other runs only find late arrivals.
    Beat(jobs.APPLY_RETENTION, 900.0),
)
_TASKS = {beat.task.actor: beat.task for beat in BEATS}


class Leadership:
    """An advisory lock of a transaction that stays open; it ends with the connection.

    A pooler in transaction mode gives a client its own connection to the server for as long as a
    transaction lasts. A lock of the session would stay behind on a connection that the pooler
    hands to the next client, and two clocks could hold it.
    """

    def __init__(self, database_url: str) -> None:
        self._url = database_url
        self._connection: Connection | None = None

    def holds(self) -> bool:
        """Returns whether this process is the clock now; tries to take a free lock."""
        try:
            if self._connection is None:
                self._connection = self._connect()
            with self._connection.cursor() as cursor:
                # Taking a lock that this very transaction holds succeeds too. So taking it each
                # time checks that the transaction, and with it the lock, still exists.
                cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", (LOCK_ID,))
                row = cursor.fetchone()
            leads = bool(row and row[0])
            if not leads:
                self._connection.rollback()
        except psycopg2.Error as error:
            log.warning("clock_lost_postgres", reason=type(error).__name__)
            self.release()
            return False
        else:
            return leads

    def release(self) -> None:
        """Closes the connection, which frees the lock."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connect(self) -> Connection:
        # The transaction holds no snapshot between its statements, so it keeps neither vacuum nor
        # the building of an index waiting.
        return psycopg2.connect(
            self._url,
            connect_timeout=5,
            keepalives_idle=5,
            keepalives_interval=5,
            keepalives_count=2,
            options="-c statement_timeout=5000 -c idle_in_transaction_session_timeout=0",
        )


def tick(queue: Queue, due: dict[Beat, float], now: float) -> float:
    """Nudges every task that is due; returns the seconds until the next one is."""
    for beat, moment in due.items():
        if now >= moment:
            due[beat] = now + beat.every
            queue.nudge(beat.task)
    return min(due.values()) - now


def wake(queue: Queue) -> float:
    """Nudges the tasks whose moments have come; returns the seconds until the next one."""
    with unavailable_when_redis_is_gone():
        actors, secs = queue.wakeups.take()
    for actor in actors:
        # A newer release may know more tasks.
        if actor in _TASKS:
            queue.nudge(_TASKS[actor])
    return WAIT_SECS if secs is None else min(secs, WAIT_SECS)


def run(settings: Settings, queue: Queue, client: "redis.Redis", stop: threading.Event) -> None:
    """Wakes and nudges until `stop` is set, while this process is the leader.

    After a time in which Redis could not write to its disk, it has the file written again.
    """
    leadership = Leadership(settings.database_url)
    begun = time.monotonic()
    due = {beat: begun + place * APART_SECS for place, beat in enumerate(BEATS)}
    led, check_at, disk_was_full = False, 0.0, False
    while not stop.is_set():
        if time.monotonic() >= check_at:
            leads = leadership.holds()
            check_at = time.monotonic() + CHECK_SECS
            if leads != led:
                log.info("clock_leads" if leads else "clock_stands_by")
                led = leads
        if not led:
            stop.wait(CHECK_SECS)
            continue
        try:
            secs = min(tick(queue, due, time.monotonic()), wake(queue))
            with unavailable_when_redis_is_gone():
                queue.wakeups.wait(secs)
            if disk_was_full:
                append_only.rewrite(client)
                disk_was_full = False
        except Unavailable as error:
            # The error is already in the log.
            disk_was_full = disk_was_full or append_only.could_not_be_written(error)
            stop.wait(CHECK_SECS)
    leadership.release()
    queue.wakeups.close()


@click.command()
def main() -> None:
    """Send the nudges that keep the workers looking for due work."""
    stop = threading.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda *_: stop.set())
    try:
        settings = load_settings()
        configure_logging(settings, "clock")
        Exporter(settings, "clock").start("clock")
    except ConfigurationError as error:
        log.error("clock_refused_to_start", reason=str(error))  # noqa: TRY400 one sentence says it
        sys.exit(1)
    # It has no `Runtime`: it reads no table, and the clients of both databases take 40 MB.
    client, broker = connect_redis(settings.redis_url), make_broker(settings.redis_url)
    run(settings, Queue(broker, client), client, stop)
    broker.close()
    client.close()


if __name__ == "__main__":
    main()
