"""Who waits for one of a few connections, so that waiting never takes all threads of a process.

A web process has more threads than connections to a store. As long as connections come free, a
burst waits its turn and is served. Once none has come free for a moment, because the store hangs or
every statement is a long one, only a few go on waiting and the others are refused at once: their
threads are there for what needs no such connection.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# For anybody: whoever asked is about to give up by then.
LONGEST_SECS = 10.0
# Without a place coming free for this long, only the patient few wait on.
STALL_SECS = 0.5


class NoTurn(Exception):
    """No place came free in time, or too many wait for one already."""


class Turns:
    """`places` that are taken in the order of asking; `patient` may wait while none comes free."""

    def __init__(self, places: int, *, patient: int) -> None:
        self._free = places
        self._patient = patient
        self._waiting = 0
        self._moved_at = time.monotonic()
        self._changed = threading.Condition()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """A place for the length of the block; raises `NoTurn`."""
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
        """Returns when a place is free; raises `NoTurn`."""
        end = time.monotonic() + LONGEST_SECS
        self._waiting += 1
        try:
            while True:
                self._changed.wait(max(0.0, self._until(end) - time.monotonic()))
                if self._free:
                    return
                if time.monotonic() >= self._until(end):
                    raise NoTurn
        finally:
            self._waiting -= 1
            if self._free > 1:
                # Who began to wait behind somebody that was being woken.
                self._changed.notify()

    def _until(self, end: float) -> float:
        return end if self._waiting <= self._patient else min(end, self._moved_at + STALL_SECS)
