"""The runtime of this worker process, set once by `workers.main` before any actor runs."""

import functools
import threading
from collections.abc import Callable
from typing import TypeVar

from shared.foundation.deployment.runtime import Runtime

_Made = TypeVar("_Made")

_current: list[Runtime] = []


def use_runtime(runtime: Runtime) -> None:
    """Makes `runtime` the runtime of all actors."""
    _current[:] = [runtime]


def runtime() -> Runtime:
    """Returns the runtime of this process.

    An actor calls this when it runs, never when imported.
    """
    return _current[0]


def once(make: Callable[[], _Made]) -> Callable[[], _Made]:
    """Creates one object for all threads of this process, on first use."""
    lock, made = threading.Lock(), functools.cache(make)

    def get() -> _Made:
        with lock:
            return made()

    return get
