"""Consumers that wait in Redis for the next message; Dramatiq's ask for one again and again."""

import threading
import time

import dramatiq
import redis
from dramatiq.brokers.redis import _RedisConsumer
from dramatiq.errors import ConnectionClosed

# A worker that stops waits no longer than this for its consumers.
WAIT_SECS = 2.0
# A consumer says this often that it is there, and counts as gone when it has not for so long.
_BEAT_SECS = 3.0
_GONE_SECS = 15.0


class WaitingConsumer(_RedisConsumer):
    """A consumer that costs nothing while its queue is empty, and notices a message at once."""

    def __init__(
        self, broker: dramatiq.Broker, queue_name: str, prefetch: int, _timeout: int
    ) -> None:
        super().__init__(broker, queue_name, prefetch, timeout=0)
        self._freed = threading.Event()
        self._beat_at = 0.0

    def __next__(self) -> dramatiq.MessageProxy | None:
        message: dramatiq.MessageProxy | None = super().__next__()
        if message is None:
            try:
                self._beat()
                self._wait()
            except redis.ConnectionError as error:
                raise ConnectionClosed(error) from None
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

    def _beat(self) -> None:
        if time.monotonic() >= self._beat_at:
            announce(self.broker.client, self.queue_name)
            self._beat_at = time.monotonic() + _BEAT_SECS

    def _wait(self) -> None:
        """Waits until there are a message and room for it, `WAIT_SECS` at most."""
        self._freed.clear()
        if self.outstanding_message_count >= self.prefetch:
            self._freed.wait(WAIT_SECS)
            return
        queue = f"{self.broker.namespace}:{self.queue_name}"
        # Moves the first element to its own place: this waits for one and changes nothing.
        self.broker.client.blmove(queue, queue, WAIT_SECS, "LEFT", "LEFT")


def announce(client: redis.Redis, queue_name: str) -> None:
    """Records that a running worker consumes the queue; raises the errors of the client."""
    client.set(_key_of(queue_name), b"1", px=round(_GONE_SECS * 1000))


def is_consumed(client: redis.Redis, queue_name: str) -> bool:
    """Returns whether a running worker consumes the queue; raises the errors of the client."""
    return bool(client.exists(_key_of(queue_name)))


def _key_of(queue_name: str) -> str:
    return f"consumed:{queue_name}"
