"""Requests of a web process that were refused with 503 or 429, counted when Redis takes them."""

import threading

import redis

from shared.foundation.core.clock import now_us
from shared.foundation.core.errors import Unavailable, WatchpostError
from shared.intake.receipts.origin import Origin
from shared.intake.receipts.receipt import REASON, Receipt, count

# Senders differ in their names, which they choose. Refusals of further ones are not counted.
MAX_WAITING = 1000


class Refusals:
    """The refusals that Redis does not know yet: lost only if this process ends before."""

    def __init__(self, client: redis.Redis) -> None:
        self._redis = client
        self._lock = threading.Lock()
        self._waiting: dict[tuple[str, str, str], Receipt] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, org_id: str, origin: Origin, refusal: WatchpostError) -> None:
        """Counts a refused request, at once unless Redis is the reason."""
        key = (org_id, origin.of(), refusal.message)
        with self._lock:
            if key not in self._waiting and len(self._waiting) < MAX_WAITING:
                tally = {"requests": 0, "refused": 0, REASON + refusal.message: 0}
                self._waiting[key] = Receipt(now_us(), {key[1]: tally})
            if key in self._waiting:
                [tally] = self._waiting[key].tallies.values()
                for name in tally:
                    tally[name] += 1
        # A Redis that hangs has delayed this answer already.
        if refusal.code != "redis_unavailable":
            self.send()

    def send(self) -> None:
        """Counts what waits, if Redis is there."""
        with self._lock:
            waiting, self._waiting = self._waiting, {}
        try:
            count(self._redis, ((org_id, receipt) for (org_id, *_), receipt in waiting.items()))
        except Unavailable:
            with self._lock:
                self._waiting = {**self._waiting, **waiting}
