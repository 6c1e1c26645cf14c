"""Actors of alert rules; the work is in `shared.watch.alerts.evaluation`."""

import threading
from functools import partial

from shared.foundation.queue import jobs
from shared.foundation.queue.slots import OF_ALERTS
from shared.reading.queries.run import QueryRunner
from shared.watch.alerts.evaluation import due
from shared.watch.alerts.evaluation.dispatcher import AlertDispatcher
from workers.context import once, runtime
from workers.groups import ALERT_BATCH_THREADS
from workers.nudged import nudged_actor, stopping

# Rules that wait for a busy store leave threads for people's statements, and those are few anyway.
_batch_places = threading.BoundedSemaphore(ALERT_BATCH_THREADS)


@once
def _runner() -> QueryRunner:
    pool_size = runtime().settings.alert_query_concurrency
    return QueryRunner(runtime(), pool_size=pool_size, places=OF_ALERTS)


@nudged_actor(jobs.EVALUATE_ALERTS, next_due=partial(due.of_rules, is_sql=False))
def evaluate_alerts() -> None:
    """Evaluates rules that are due, except those with SQL statements."""
    if _batch_places.acquire(blocking=False):
        try:
            AlertDispatcher(runtime(), _runner(), stopping).run(is_sql=False)
        finally:
            _batch_places.release()


@nudged_actor(jobs.EVALUATE_SQL_ALERTS, next_due=partial(due.of_rules, is_sql=True))
def evaluate_sql_alerts() -> None:
    """Evaluates due rules with SQL statements."""
    AlertDispatcher(runtime(), _runner(), stopping).run(is_sql=True)
