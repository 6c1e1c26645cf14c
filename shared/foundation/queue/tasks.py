"""Messages by name, which the web tier and the clock send without importing an actor."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import dramatiq
import redis

from shared.foundation.core.errors import Unavailable
from shared.foundation.core.logs import get_logger
from shared.foundation.queue.connection import unavailable_when_redis_is_gone
from shared.foundation.queue.wakeups import Wakeups

log = get_logger(__name__)


@dataclass(frozen=True)
class Task:
    """A kind of message: the actor that runs it and the queue it travels on."""

    actor: str
    queue: str


class Queue:
    """Sends messages; raises `Unavailable` when Redis cannot be reached."""

    def __init__(self, broker: dramatiq.Broker, client: redis.Redis) -> None:
        self._broker = broker
        self._redis = client
        self.wakeups = Wakeups(client)

    def send(self, task: Task, *args: object) -> None:
        """Sends one message; `args` must be JSON-serialisable: pass ids, not data."""
        message: dramatiq.Message[Any] = dramatiq.Message(
            queue_name=task.queue, actor_name=task.actor, args=args, kwargs={}, options={}
        )
        with unavailable_when_redis_is_gone():
            self._broker.enqueue(message)

    def nudge(self, task: Task, *, ttl_ms: int = 5000) -> bool:
        """Sends a message that says "look for work", unless one is already under way.

        The worker calls `nudged` when it starts to look. The mark expires after `ttl_ms`: a lost
        message delays the work by that much and never stops it.
        """
        with unavailable_when_redis_is_gone():
            if not self._redis.set(_mark(task), b"1", nx=True, px=ttl_ms):
                return False
        self.send(task)
        return True

    def nudge_soon(self, task: Task) -> None:
        """Nudges if Redis is there; otherwise the clock starts the same work a little later."""
        try:
            self.nudge(task)
        except Unavailable:
            log.info("nudge_left_to_the_clock", task=task.actor)

    def nudge_in(self, task: Task, secs: float) -> None:
        """Lets the clock nudge the task in `secs`, or earlier.

        Without Redis the clock starts the same work when it looks next.
        """
        with suppress(Unavailable), unavailable_when_redis_is_gone():
            self.wakeups.add(task.actor, secs)

    def nudged(self, task: Task) -> None:
        """Removes the mark, so that work that appears from now on sends another nudge."""
        with unavailable_when_redis_is_gone():
            self._redis.delete(_mark(task))


def _mark(task: Task) -> str:
    return f"nudge:{task.actor}"
