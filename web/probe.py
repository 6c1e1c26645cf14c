"""A check that may hang, run in a separate thread."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from shared.foundation.core.errors import Unavailable
from shared.foundation.core.logs import get_logger

log = get_logger(__name__)

T = TypeVar("T")


class Probe(Generic[T]):
    """A check that may hang. It runs in a thread, and never twice at the same time."""

    def __init__(self, ask: Callable[[], T]) -> None:
        self._ask = ask
        self._lock = threading.Lock()
        self._answer: Future[T] | None = None

    def start(self) -> Future[T]:
        """Starts the check and returns its future. A check in progress is reused."""
        with self._lock:
            if self._answer is None or self._answer.done():
                self._answer = Future()
                threading.Thread(target=self._run, args=(self._answer,), daemon=True).start()
            return self._answer

    def _run(self, answer: Future[T]) -> None:
        try:
            answer.set_result(self._ask())
        except Exception as error:
            if not isinstance(error, Unavailable):
                log.exception("readiness_probe_failed")
            answer.set_exception(error)
