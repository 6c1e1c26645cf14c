"""Actors of evaluations; what they do is `shared.evaluation_jobs`' and `workers.evaluator`'s.

Each is nudged by the clock for as long as there may be work, so none is retried.
"""

import functools
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

import dramatiq

from shared.clickhouse import ClickHouse
from shared.config import Settings
from shared.errors import Unavailable
from shared.evaluation_jobs import jobs, promotion, storing
from shared.postgres import Postgres, single_flight
from shared.queue import Task
from workers.context import runtime
from workers.evaluator import config_refresh
from workers.evaluator.client import EvaluatorClient
from workers.evaluator.dispatcher import Dispatcher

# What the evaluator's operator changed may be why this process was started again.
_config_was_read = threading.Event()

# A call lasts as long as EVALUATOR_REQUEST_TIMEOUT_MS lets it, so Dramatiq must not end it.
_NO_TIME_LIMIT_MS = 24 * 3600 * 1000


class _Stopping(dramatiq.Middleware):
    """Tells the dispatchers that this process is about to stop."""

    def __init__(self) -> None:
        self.event = threading.Event()

    def before_worker_shutdown(self, _broker: dramatiq.Broker, _worker: dramatiq.Worker) -> None:
        self.event.set()


_stopping = _Stopping()
dramatiq.get_broker().add_middleware(_stopping)


_client_lock = threading.Lock()


@functools.cache
def _only_client() -> EvaluatorClient:
    return EvaluatorClient(runtime().settings)


def _client() -> EvaluatorClient:
    with _client_lock:
        return _only_client()


def _nudged_actor(task: Task) -> Callable[[Callable[[], None]], dramatiq.Actor[[], None]]:
    """Declares the actor of a task whose messages only say "look"; a stale one says nothing."""

    def declare(look: Callable[[], None]) -> dramatiq.Actor[[], None]:
        return dramatiq.actor(
            actor_name=task.actor,
            queue_name=task.queue,
            max_retries=0,
            max_age=60_000,
            time_limit=_NO_TIME_LIMIT_MS,
            throws=Unavailable,
        )(look)

    return declare


@_nudged_actor(jobs.RUN_EVALUATIONS)
def run_evaluations() -> None:
    """Calls the evaluator for jobs that are due."""
    runtime().queue.nudged(jobs.RUN_EVALUATIONS)
    if runtime().settings.evaluator_endpoint is not None:
        Dispatcher(runtime(), _client(), _stopping.event).run()


@_nudged_actor(jobs.CHECK_WATCHED_SESSIONS)
def check_watched_sessions() -> None:
    """Creates the jobs of sessions whose root agent ended."""
    _create_jobs(jobs.CHECK_WATCHED_SESSIONS, promotion.promote_ended)


@_nudged_actor(jobs.SCAN_INACTIVE_SESSIONS)
def scan_inactive_sessions() -> None:
    """Creates the jobs of sessions that went quiet without an end."""
    _create_jobs(jobs.SCAN_INACTIVE_SESSIONS, promotion.promote_inactive)


@_nudged_actor(jobs.STORE_EVALUATIONS)
def store_evaluations() -> None:
    """Appends finished results to ClickHouse."""
    with _alone(jobs.STORE_EVALUATIONS) as alone:
        if alone:
            storing.store_results(runtime().postgres, runtime().clickhouse)


@_nudged_actor(jobs.REFRESH_EVALUATOR_CONFIG)
def refresh_evaluator_config() -> None:
    """Reads the evaluator's /config when it is due, and once after a start."""
    runtime().queue.nudged(jobs.REFRESH_EVALUATOR_CONFIG)
    if runtime().settings.evaluator_endpoint is not None:
        first = not _config_was_read.is_set()
        _config_was_read.set()
        config_refresh.refresh_if_due(runtime(), _client(), force=first)


def _create_jobs(task: Task, promote: Callable[[Postgres, ClickHouse, Settings], int]) -> None:
    with _alone(task) as alone:
        created = alone and promote(runtime().postgres, runtime().clickhouse, runtime().settings)
    if created:
        runtime().queue.nudge_soon(jobs.RUN_EVALUATIONS)


def _alone(task: Task) -> AbstractContextManager[bool]:
    """Starts to look, unless somebody does already: a store that hangs holds one thread only."""
    runtime().queue.nudged(task)
    return single_flight(runtime().postgres, task.actor)
