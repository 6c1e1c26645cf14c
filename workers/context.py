"""The runtime of this worker process, set once by `workers.main` before any actor runs."""

import functools
import threading
from collections.abc import Callable
from typing import TypeVar

from shared.deployment.runtime import Runtime

_Made = TypeVar("_Made")

_current: list[Runtime] = []


def use_runtime(runtime: Runtime) -> None:
    """Makes `runtime` the one that actors work with."""
    _current[:] = [runtime]


def runtime() -> Runtime:
    """The runtime of this process; an actor asks for it when it runs, never when imported."""
    return _current[0]


def once(make: Callable[[], _Made]) -> Callable[[], _Made]:
    """Makes one object for all threads of this process, when the first of them asks for it."""
    lock, made = threading.Lock(), functools.cache(make)

    def get() -> _Made:
        with lock:
            return made()

    return get
