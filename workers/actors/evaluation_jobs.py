"""Actors of evaluations; the work is in `shared.evaluation_jobs` and `workers.evaluation_jobs`."""

import functools
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

from shared.clickhouse import ClickHouse
from shared.core.config import Settings
from shared.evaluation_jobs import jobs, promotion, storing
from shared.postgres import Postgres, single_flight
from shared.queue import Task
from workers.context import runtime
from workers.evaluation_jobs import config_refresh
from workers.evaluation_jobs.client import EvaluatorClient
from workers.evaluation_jobs.dispatcher import EvaluationDispatcher
from workers.nudged import nudged_actor, stopping

# What the evaluator's operator changed may be why this process was started again.
_config_was_read = threading.Event()

_client_lock = threading.Lock()


@functools.cache
def _only_client() -> EvaluatorClient:
    return EvaluatorClient(runtime().settings)


def _client() -> EvaluatorClient:
    with _client_lock:
        return _only_client()


@nudged_actor(jobs.RUN_EVALUATIONS)
def run_evaluations() -> None:
    """Calls the evaluator for jobs that are due."""
    runtime().queue.nudged(jobs.RUN_EVALUATIONS)
    if runtime().settings.evaluator_endpoint is not None:
        EvaluationDispatcher(runtime(), _client(), stopping).run()


@nudged_actor(jobs.CHECK_WATCHED_SESSIONS)
def check_watched_sessions() -> None:
    """Creates the jobs of sessions whose root agent ended."""
    _create_jobs(jobs.CHECK_WATCHED_SESSIONS, promotion.promote_ended)


@nudged_actor(jobs.SCAN_INACTIVE_SESSIONS)
def scan_inactive_sessions() -> None:
    """Creates the jobs of sessions that went quiet without an end."""
    _create_jobs(jobs.SCAN_INACTIVE_SESSIONS, promotion.promote_inactive)


@nudged_actor(jobs.STORE_EVALUATIONS)
def store_evaluations() -> None:
    """Appends finished results to ClickHouse."""
    with _alone(jobs.STORE_EVALUATIONS) as alone:
        if alone:
            storing.store_results(runtime().postgres, runtime().clickhouse)


@nudged_actor(jobs.REFRESH_EVALUATOR_CONFIG)
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
