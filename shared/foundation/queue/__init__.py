"""Redis: the data in flight, and the messages that tell workers to look for work."""

from shared.foundation.queue.broker import Broker, make_broker
from shared.foundation.queue.connection import connect_redis, unavailable_when_redis_is_gone
from shared.foundation.queue.consumer import is_consumed
from shared.foundation.queue.tasks import Queue, Task

__all__ = [
    "Broker",
    "Queue",
    "Task",
    "connect_redis",
    "is_consumed",
    "make_broker",
    "unavailable_when_redis_is_gone",
]
