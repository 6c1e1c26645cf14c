"""The downloads that one process serves at once."""

import threading
from collections import Counter
from collections.abc import Callable

from shared.foundation.core.errors import RateLimited

_IN_ALL = 4
_OF_ORGANIZATION = 2


class ExportPlaces:
    """Limits exports, each of which keeps a thread and up to 100 MB until its client has it all."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: Counter[str] = Counter()

    def take(self, org_id: str) -> Callable[[], None]:
        """Takes a place; returns the function that frees it once. Raises `RateLimited`."""
        with self._lock:
            if self._taken.total() >= _IN_ALL or self._taken[org_id] >= _OF_ORGANIZATION:
                raise RateLimited(
                    "other exports are under way: try again when they have ended",
                    code="exports_busy",
                    retry_after_secs=10,
                )
            self._taken[org_id] += 1
        freed = threading.Event()

        def free() -> None:
            with self._lock:
                if not freed.is_set():
                    freed.set()
                    self._taken[org_id] -= 1

        return free
