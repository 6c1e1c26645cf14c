"""Actors of evaluations; the work is in `shared.evaluation` and `workers.evaluation_jobs`."""

import threading
from collections.abc import Callable

from shared.evaluation.evaluation_jobs import breaker, due, promotion, storing
from shared.evaluation.evaluation_jobs.scope import breaker_key
from shared.evaluation.runs.storing import OF_RUNS
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.config import Settings
from shared.foundation.postgres import Postgres, single_flight
from shared.foundation.queue import Task, jobs
from workers.context import once, runtime
from workers.evaluation_jobs import config_refresh
from workers.evaluation_jobs.client import EvaluatorClient, default_client
from workers.evaluation_jobs.default_evaluator import DefaultEvaluator
from workers.evaluation_jobs.dispatcher import EvaluationDispatcher
from workers.nudged import nudged_actor, stopping

# Read once after a start, because the evaluator may have changed before it.
_config_was_read = threading.Event()


@once
def _client() -> EvaluatorClient:
    return default_client(runtime().settings)


@once
def _dispatcher() -> EvaluationDispatcher:
    return EvaluationDispatcher(runtime(), DefaultEvaluator(runtime(), _client()), stopping)


@nudged_actor(jobs.RUN_EVALUATIONS, next_due=due.of_jobs)
def run_evaluations() -> None:
    """Calls the evaluator for jobs that are due."""
    if runtime().settings.evaluator_endpoint is not None:
        _dispatcher().run()


# While sessions end all the time, few looks at many of them cost less than many at a few.
@nudged_actor(jobs.CHECK_WATCHED_SESSIONS, next_due=due.of_ended_sessions, shortest=0.5)
def check_watched_sessions() -> None:
    """Creates the jobs of sessions whose root agent ended."""
    _create_jobs(jobs.CHECK_WATCHED_SESSIONS, promotion.promote_ended)


@nudged_actor(jobs.SCAN_INACTIVE_SESSIONS, next_due=due.of_idle_sessions, shortest=2.0)
def scan_inactive_sessions() -> None:
    """Creates the jobs of sessions that became idle without an end."""
    _create_jobs(jobs.SCAN_INACTIVE_SESSIONS, promotion.promote_inactive)


@nudged_actor(jobs.STORE_EVALUATIONS, next_due=due.of_results, shortest=0.25)
def store_evaluations() -> None:
    """Appends finished results to ClickHouse."""
    with single_flight(runtime().postgres, jobs.STORE_EVALUATIONS.actor) as alone:
        if alone:
            for finished in (storing.OF_DEFAULT, OF_RUNS):
                storing.store_results(runtime().postgres, runtime().clickhouse, finished)


@nudged_actor(jobs.REFRESH_EVALUATOR_CONFIG, next_due=due.of_config)
def refresh_evaluator_config() -> None:
    """Reads the evaluator's /config when it is due, and once after a start."""
    if runtime().settings.evaluator_endpoint is not None:
        first = not _config_was_read.is_set()
        _config_was_read.set()
        if first:
            with runtime().postgres.transaction() as session:
                breaker.try_now(session, breaker_key(runtime().settings))
            runtime().queue.nudge_soon(jobs.RUN_EVALUATIONS)
        config_refresh.refresh_if_due(runtime(), _client(), force=first)


def _create_jobs(task: Task, promote: Callable[[Postgres, ClickHouse, Settings], int]) -> None:
    # Only one thread at a time, so that a store that hangs blocks only one.
    with single_flight(runtime().postgres, task.actor) as alone:
        created = alone and promote(runtime().postgres, runtime().clickhouse, runtime().settings)
    if created:
        runtime().queue.nudge_soon(jobs.RUN_EVALUATIONS)
