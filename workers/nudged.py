"""Declares actors whose messages only say "look", and tells them when the process stops.

Only actor modules import this: like actors, it binds to the broker that exists by then.
"""

import functools
import threading
from collections.abc import Callable

import dramatiq
from sqlalchemy.orm import Session

from shared.foundation.core.config import Settings
from shared.foundation.core.errors import Unavailable
from shared.foundation.queue import Task
from workers.context import runtime

# Calls that hang end by their own deadlines, so Dramatiq must not end them.
_NO_TIME_LIMIT_MS = 24 * 3600 * 1000


class _Stopping(dramatiq.Middleware):
    """A middleware that sets an event when this process is about to stop."""

    def __init__(self) -> None:
        self.event = threading.Event()

    def before_worker_shutdown(self, _broker: dramatiq.Broker, _worker: dramatiq.Worker) -> None:
        self.event.set()


_stopping = _Stopping()
dramatiq.get_broker().add_middleware(_stopping)

# Set when this process is about to stop: loops end after the current piece of work.
stopping = _stopping.event


# Returns the seconds until the next work of a task is due, None if there is none.
NextDue = Callable[[Session, Settings], float | None]

# A task whose store is down looks again this soon.
STORE_RETRY_SECS = 1.0
# A task that always has work due soon looks again after this time.
SHORTEST_SECS = 0.1


def nudged_actor(
    task: Task, *, next_due: NextDue | None = None, shortest: float = SHORTEST_SECS
) -> Callable[[Callable[[], None]], dramatiq.Actor[[], None]]:
    """Declares the actor of a task that looks for work.

    It is nudged when work appears, when `next_due` said that work would be due, and by the clock
    when it looks. It is therefore never retried, and a stale message is dropped.
    """

    def declare(look: Callable[[], None]) -> dramatiq.Actor[[], None]:
        @functools.wraps(look)
        def run() -> None:
            runtime().queue.nudged(task)
            try:
                look()
                if next_due is not None:
                    _look_again(task, next_due, shortest)
            except Unavailable:
                runtime().queue.nudge_in(task, STORE_RETRY_SECS)
                raise

        return dramatiq.actor(
            actor_name=task.actor,
            queue_name=task.queue,
            max_retries=0,
            max_age=60_000,
            time_limit=_NO_TIME_LIMIT_MS,
            throws=Unavailable,
        )(run)

    return declare


def _look_again(task: Task, next_due: NextDue, shortest: float) -> None:
    """Lets the clock nudge the task when its next work is due."""
    with runtime().postgres.transaction() as session:
        secs = next_due(session, runtime().settings)
    if secs is not None:
        runtime().queue.nudge_in(task, max(secs, shortest))
