"""The identities that one process has seen lately."""

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from shared.identity.identity import Identity

_CAPACITY = 4096
_LIFETIME_SECS = 60.0

# The hash of the secret, and the organization that the request named.
CacheKey = tuple[bytes, str | None]


@dataclass(frozen=True)
class _Entry:
    generation: bytes
    cached_at: float
    identity: Identity


class IdentityCache:
    """Thread-safe; the least recently used entry leaves when it is full."""

    def __init__(self) -> None:
        self._entries: OrderedDict[CacheKey, _Entry] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: CacheKey, generation: bytes) -> Identity | None:
        """The identity cached under this generation within the last 60 s."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            too_old = time.monotonic() - entry.cached_at > _LIFETIME_SECS
            if too_old or entry.generation != generation:
                del self._entries[key]
                return None
            self._entries.move_to_end(key)
            return entry.identity

    def put(self, key: CacheKey, generation: bytes, identity: Identity) -> None:
        """Remembers an identity that was read after `generation` was."""
        with self._lock:
            self._entries[key] = _Entry(generation, time.monotonic(), identity)
            self._entries.move_to_end(key)
            if len(self._entries) > _CAPACITY:
                self._entries.popitem(last=False)
