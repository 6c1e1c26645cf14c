"""Declares actors whose messages only say "look", and tells them when the process stops.

Only actor modules import this: like actors, it binds to the broker that exists by then.
"""

import functools
import threading
from collections.abc import Callable

import dramatiq

from shared.core.errors import Unavailable
from shared.queue import Task
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


def nudged_actor(task: Task) -> Callable[[Callable[[], None]], dramatiq.Actor[[], None]]:
    """Declares the actor of a task that the clock nudges while there may be work.

    It is therefore never retried, and a stale message is dropped. Work that appears once the actor
    looks sends another nudge.
    """

    def declare(look: Callable[[], None]) -> dramatiq.Actor[[], None]:
        @functools.wraps(look)
        def run() -> None:
            runtime().queue.nudged(task)
            look()

        return dramatiq.actor(
            actor_name=task.actor,
            queue_name=task.queue,
            max_retries=0,
            max_age=60_000,
            time_limit=_NO_TIME_LIMIT_MS,
            throws=Unavailable,
        )(run)

    return declare
