"""The messages of evaluation jobs; all of them only say "look".

Calls to the evaluator have a queue, and so threads, of their own: while every call hangs, finished
sessions are still found and results are still stored.
"""

from shared.errors import Unavailable
from shared.logs import get_logger
from shared.queue import Queue, Task

log = get_logger(__name__)

RUN_EVALUATIONS = Task(actor="run_evaluations", queue="evaluator")
CHECK_WATCHED_SESSIONS = Task(actor="check_watched_sessions", queue="background")
SCAN_INACTIVE_SESSIONS = Task(actor="scan_inactive_sessions", queue="background")
STORE_EVALUATIONS = Task(actor="store_evaluations", queue="background")
REFRESH_EVALUATOR_CONFIG = Task(actor="refresh_evaluator_config", queue="background")


def nudge_soon(queue: Queue, task: Task) -> None:
    """Nudges when Redis is there; without it the clock finds the same work a little later."""
    try:
        queue.nudge(task)
    except Unavailable:
        log.info("nudge_left_to_the_clock", task=task.actor)
