"""Limits the threads of a process that wait for one of a few connections.

A web process has more threads than connections to a store. While connections become free, a burst
waits and is served. If none becomes free for a moment, because the store hangs or every statement
is long, only a few threads keep waiting. The others are refused at once, so that they can serve
requests that need no such connection.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from shared.foundation.core.metrics.catalogue import POOL_REFUSED, POOL_WAIT

# The longest wait of any thread: the client is about to give up by then.
LONGEST_SECS = 10.0
# If no place becomes free for this long, only the `patient` ones keep waiting.
STALL_SECS = 0.5


class NoPlace(Exception):
    """No place became free in time, or too many threads already wait for one."""


class ConnectionQueue:
    """A number of `places`, given in order of asking.

    `patient` may wait while none becomes free. `pool` is the name of the places in the metrics.
    """

    def __init__(self, places: int, *, patient: int, pool: str = "") -> None:
        self._pool = pool
        self._free = places
        self._patient = patient
        self._waiting = 0
        self._moved_at = time.monotonic()
        self._changed = threading.Condition()

    @contextmanager
    def place(self) -> Iterator[None]:
        """Holds a place during the block; raises `NoPlace`."""
        with self._changed:
            if self._waiting or not self._free:
                self._wait()
            self._take()
        try:
            yield
        finally:
            with self._changed:
                self._free += 1
                self._moved_at = time.monotonic()
                self._changed.notify()

    def _take(self) -> None:
        self._free -= 1
        if not self._free:
            self._moved_at = time.monotonic()

    def _wait(self) -> None:
        """Returns when a place is free; raises `NoPlace`."""
        began = time.monotonic()
        end = began + LONGEST_SECS
        self._waiting += 1
        try:
            while True:
                self._changed.wait(max(0.0, self._until(end) - time.monotonic()))
                if self._free:
                    POOL_WAIT.observe(time.monotonic() - began, self._pool)
                    return
                if time.monotonic() >= self._until(end):
                    POOL_REFUSED.add(1, self._pool)
                    raise NoPlace
        finally:
            self._waiting -= 1
            if self._free > 1:
                # Another thread may have started to wait while this one was being woken.
                self._changed.notify()

    def _until(self, end: float) -> float:
        return end if self._waiting <= self._patient else min(end, self._moved_at + STALL_SECS)
