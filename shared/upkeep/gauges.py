"""The gauges of the whole deployment: what waits, for how long, and which stores answer.

They are the same wherever they are read, so only the process type with the group `background`
answers for them, and it reads them every few seconds at most, however often it is asked.
"""

import time
from collections.abc import Callable, Iterator, Sequence

from clickhouse_driver.errors import Error as ClickHouseError
from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from shared.access.mail import due as mails
from shared.evaluation.evaluation_jobs import listing as jobs
from shared.evaluation.evaluation_jobs.evaluator_config import evaluator_name
from shared.evaluation.evaluation_jobs.listing import NO_JOBS
from shared.foundation.core.errors import WatchpostError
from shared.foundation.core.metrics import catalogue
from shared.foundation.core.metrics.kinds import MetricReading
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.deployment.stores import STORES
from shared.foundation.queue import unavailable_when_redis_is_gone
from shared.intake.canary import passages
from shared.intake.ingest import backlog, dead_letters
from shared.watch.alerts.evaluation import due as rules
from shared.watch.incidents.deliveries import due as deliveries

CACHED_SECS = 5.0


class Gauges:
    """The gauges, as read at most `CACHED_SECS` ago; for one thread at a time."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._read_at = float("-inf")
        self._last: Sequence[MetricReading] = ()

    def readings(self) -> Sequence[MetricReading]:
        """Returns all readings. Those of a store that does not answer are missing."""
        if time.monotonic() >= self._read_at + CACHED_SECS:
            self._last = list(_all(self._runtime))
            self._read_at = time.monotonic()
        return self._last


def _all(runtime: Runtime) -> Iterator[MetricReading]:
    reads = {"redis": _of_redis, "postgres": _of_postgres, "clickhouse": _of_nothing}
    for store, read in reads.items():
        found = _if_it_answers(runtime, store, read)
        yield MetricReading(catalogue.STORE_UP, float(found is not None), (store,))
        yield from found or ()


def _if_it_answers(
    runtime: Runtime, store: str, read: Callable[[Runtime], Iterator[MetricReading]]
) -> list[MetricReading] | None:
    try:
        STORES[store](runtime)
        return list(read(runtime))
    except (WatchpostError, RedisError, SQLAlchemyError, ClickHouseError):
        # The log has the reason.
        return None


def _of_nothing(_runtime: Runtime) -> Iterator[MetricReading]:
    return iter(())


def _of_redis(runtime: Runtime) -> Iterator[MetricReading]:
    with unavailable_when_redis_is_gone():
        sizes = backlog.measure(runtime.redis)
        yield MetricReading(catalogue.BACKLOG_BYTES, float(sum(sizes.values())))
        yield MetricReading(catalogue.BACKLOG_LIMIT, float(runtime.settings.ingest_backlog_bytes))
        yield MetricReading(catalogue.LAG, backlog.lag_secs(runtime.redis))
        yield MetricReading(catalogue.DEAD_LETTERS, float(dead_letters.count(runtime.redis)))
        canary = passages.state(runtime.redis, runtime.settings.ready_max_ingest_lag_secs)
    if canary is not None:
        yield MetricReading(catalogue.CANARY_AGE, canary.age_secs)
        yield MetricReading(catalogue.CANARY_UP, float(not canary.is_late))
        for part, groups in canary.failing.items():
            yield MetricReading(catalogue.CANARY_FAILING, float(groups), (part,))


def _of_postgres(runtime: Runtime) -> Iterator[MetricReading]:
    with runtime.postgres.transaction() as session:
        oldest = jobs.oldest_due_secs(session, runtime.settings)
        live_jobs = jobs.live_by_status(session, runtime.settings)
        overdue = rules.longest_due_secs(session)
        delivering = deliveries.waiting(session)
        mailing = mails.waiting(session)
    evaluator = evaluator_name(runtime.settings)
    yield MetricReading(catalogue.OLDEST_JOB, oldest, (evaluator,))
    for status in catalogue.JOBS.labels["status"] or ():
        live = live_jobs.get(status, NO_JOBS)
        yield MetricReading(catalogue.JOBS, float(live.jobs), (evaluator, status))
        yield MetricReading(catalogue.JOBS_AGE, live.oldest_secs, (evaluator, status))
    yield MetricReading(catalogue.ALERT_LAG, overdue)
    yield MetricReading(catalogue.DELIVERIES_QUEUED, float(delivering.queued))
    yield MetricReading(catalogue.DELIVERY_LAG, delivering.longest_due_secs)
    yield MetricReading(catalogue.MAILS_QUEUED, float(mailing.queued))
    yield MetricReading(catalogue.MAILS_FAILED, float(mailing.failed))
    yield MetricReading(catalogue.MAIL_LAG, mailing.longest_due_secs)
