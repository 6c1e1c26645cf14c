"""What one process remembers for as long as nobody changed it."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from shared.errors import Unavailable
from shared.logs import get_logger

log = get_logger(__name__)

# Entries older than this are read again, although nothing says that they changed.
LIFETIME_SECS = 60.0
# While PostgreSQL is away it is asked this often, and the entries of before go on counting.
RETRY_SECS = 5.0

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True)
class _Entry(Generic[V]):
    generation: bytes
    fresh_until: float
    value: V


class GenerationCache(Generic[K, V]):
    """Thread-safe; the least recently used entry leaves when it is full."""

    def __init__(self, capacity: int = 4096) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[K, _Entry[V]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K, generation: bytes | None, load: Callable[[], V]) -> V:
        """The value remembered under `generation`, else what `load` reads.

        `generation` has to be read before this call; None (Redis cannot tell) remembers nothing.
        An entry older than 60 s is loaded again; when PostgreSQL is away just then, an entry of
        this very generation counts until it is back. Raises what `load` raises.
        """
        if generation is None:
            return load()
        entry = self._find(key, generation)
        if entry is not None and time.monotonic() < entry.fresh_until:
            return entry.value
        try:
            value = load()
        except Unavailable:
            if entry is None:
                raise
            log.warning("cache_outlives_outage", cached=type(entry.value).__name__)
            self._put(key, _Entry(generation, time.monotonic() + RETRY_SECS, entry.value))
            return entry.value
        self._put(key, _Entry(generation, time.monotonic() + LIFETIME_SECS, value))
        return value

    def _find(self, key: K, generation: bytes) -> _Entry[V] | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            if entry.generation != generation:
                del self._entries[key]
                return None
            self._entries.move_to_end(key)
            return entry

    def _put(self, key: K, entry: _Entry[V]) -> None:
        with self._lock:
            self._entries[key] = entry
            self._entries.move_to_end(key)
            if len(self._entries) > self._capacity:
                self._entries.popitem(last=False)
