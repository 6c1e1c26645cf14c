"""A cache in one process whose entries are valid while nothing has changed."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from shared.foundation.core.errors import Unavailable
from shared.foundation.core.logs import get_logger

log = get_logger(__name__)

# Older entries are read again, even if nothing reports a change.
LIFETIME_SECS = 60.0
# While PostgreSQL is down, it is tried this often, and the earlier entries stay valid.
RETRY_SECS = 5.0

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True)
class _Entry(Generic[V]):
    epoch: bytes
    fresh_until: float
    value: V


class EpochCache(Generic[K, V]):
    """A thread-safe cache that drops the least recently used entry when it is full."""

    def __init__(self, capacity: int = 4096) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[K, _Entry[V]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K, epoch: bytes | None, load: Callable[[], V]) -> V:
        """Returns the value cached under `epoch`, or calls `load` to read it.

        Read `epoch` before this call; with None (Redis cannot tell) nothing is cached. An
        entry older than 60 s is loaded again. If PostgreSQL is down at that time, an entry of this
        very epoch stays valid until it is back. Raises what `load` raises.
        """
        return self.get_many((key,), epoch, lambda _keys: {key: load()})[key]

    def get_many(
        self,
        keys: Collection[K],
        epoch: bytes | None,
        load: Callable[[Collection[K]], Mapping[K, V]],
    ) -> Mapping[K, V]:
        """Does the same as `get` for several keys; `load` gets only the keys that must be read."""
        if epoch is None:
            return load(keys)
        found = {key: entry for key in keys if (entry := self._find(key, epoch)) is not None}
        start = time.monotonic()
        wanted = [key for key in keys if key not in found or start >= found[key].fresh_until]
        if wanted:
            found.update(self._read(wanted, epoch, found, load))
        return {key: entry.value for key, entry in found.items()}

    def _read(
        self,
        keys: Collection[K],
        epoch: bytes,
        old: Mapping[K, _Entry[V]],
        load: Callable[[Collection[K]], Mapping[K, V]],
    ) -> Mapping[K, _Entry[V]]:
        """Returns fresh entries of `keys`.

        Extends those of `old` while the store cannot be read.
        """
        try:
            values, lifetime = load(keys), LIFETIME_SECS
        except Unavailable:
            if any(key not in old for key in keys):
                raise
            values, lifetime = {key: old[key].value for key in keys}, RETRY_SECS
            log.warning("cache_outlives_outage", cached=type(next(iter(values.values()))).__name__)
        fresh_until = time.monotonic() + lifetime
        read = {key: _Entry(epoch, fresh_until, values[key]) for key in keys}
        for key, entry in read.items():
            self._put(key, entry)
        return read

    def _find(self, key: K, epoch: bytes) -> _Entry[V] | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            if entry.epoch != epoch:
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
