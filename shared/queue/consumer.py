"""Consumers that wait in Redis for the next message; Dramatiq's ask for one again and again."""

import threading

import dramatiq
import redis
from dramatiq.brokers.redis import _RedisConsumer
from dramatiq.errors import ConnectionClosed

# A worker that stops waits no longer than this for its consumers.
WAIT_SECS = 2.0


class WaitingConsumer(_RedisConsumer):
    """A consumer that costs nothing while its queue is empty, and notices a message at once."""

    def __init__(
        self, broker: dramatiq.Broker, queue_name: str, prefetch: int, _timeout: int
    ) -> None:
        super().__init__(broker, queue_name, prefetch, timeout=0)
        self._freed = threading.Event()

    def __next__(self) -> dramatiq.MessageProxy | None:
        message: dramatiq.MessageProxy | None = super().__next__()
        if message is None:
            self._wait()
        return message

    def ack(self, message: dramatiq.MessageProxy) -> None:
        """Tells Redis that the message was processed, which makes room for another one."""
        try:
            super().ack(message)
        finally:
            self._freed.set()

    def nack(self, message: dramatiq.MessageProxy) -> None:
        """Moves the message to the dead letters, which makes room for another one."""
        try:
            super().nack(message)
        finally:
            self._freed.set()

    def _wait(self) -> None:
        """Waits until there are a message and room for it, `WAIT_SECS` at most."""
        self._freed.clear()
        if self.outstanding_message_count >= self.prefetch:
            self._freed.wait(WAIT_SECS)
            return
        queue = f"{self.broker.namespace}:{self.queue_name}"
        try:
            # Moves the first element to its own place: this waits for one and changes nothing.
            self.broker.client.blmove(queue, queue, WAIT_SECS, "LEFT", "LEFT")
        except redis.ConnectionError as error:
            raise ConnectionClosed(error) from None
