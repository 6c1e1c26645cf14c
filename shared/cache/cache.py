"""What one process remembers for as long as nobody changed it."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from shared.core.errors import Unavailable
from shared.core.logs import get_logger

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
        return self.get_many((key,), generation, lambda _keys: {key: load()})[key]

    def get_many(
        self,
        keys: Collection[K],
        generation: bytes | None,
        load: Callable[[Collection[K]], Mapping[K, V]],
    ) -> Mapping[K, V]:
        """`get` of several keys at once; `load` is given those that have to be read."""
        if generation is None:
            return load(keys)
        found = {key: entry for key in keys if (entry := self._find(key, generation)) is not None}
        start = time.monotonic()
        wanted = [key for key in keys if key not in found or start >= found[key].fresh_until]
        if wanted:
            found.update(self._read(wanted, generation, found, load))
        return {key: entry.value for key, entry in found.items()}

    def _read(
        self,
        keys: Collection[K],
        generation: bytes,
        old: Mapping[K, _Entry[V]],
        load: Callable[[Collection[K]], Mapping[K, V]],
    ) -> Mapping[K, _Entry[V]]:
        """Fresh entries of `keys`; those of `old` for a little longer while nothing is read."""
        try:
            values, lifetime = load(keys), LIFETIME_SECS
        except Unavailable:
            if any(key not in old for key in keys):
                raise
            values, lifetime = {key: old[key].value for key in keys}, RETRY_SECS
            log.warning("cache_outlives_outage", cached=type(next(iter(values.values()))).__name__)
        fresh_until = time.monotonic() + lifetime
        read = {key: _Entry(generation, fresh_until, values[key]) for key in keys}
        for key, entry in read.items():
            self._put(key, entry)
        return read

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
