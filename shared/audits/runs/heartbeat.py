"""Keeps the lease of a run while it is carried out, however long one statement takes."""

import threading
import time
from types import TracebackType
from typing import Self

from shared.audits.runs import claims
from shared.audits.runs.claims import LEASE_SECS, Claim
from shared.core.errors import Unavailable
from shared.postgres import Postgres

# A run that takes longer is stuck: its lease ends, and another worker may try.
MAX_RUN_SECS = 3600.0


class Heartbeat:
    """Renews the lease of a claim in a thread of its own until the end of the `with` block."""

    def __init__(
        self, postgres: Postgres, claim: Claim, *, every_secs: float = LEASE_SECS / 4
    ) -> None:
        self._postgres = postgres
        self._claim = claim
        self._every_secs = every_secs
        self._ended = threading.Event()
        self._lost = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="audit-heartbeat", daemon=True)

    @property
    def is_lost(self) -> bool:
        """Whether the run is for others now, or gone."""
        return self._lost.is_set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _beat(self) -> None:
        deadline = time.monotonic() + MAX_RUN_SECS
        while not self._ended.wait(self._every_secs):
            if time.monotonic() > deadline or not self._renewed():
                self._lost.set()
                return

    def _renewed(self) -> bool:
        try:
            with self._postgres.transaction() as session:
                return claims.renew(session, self._claim)
        except Unavailable:
            # The lease outlasts a short outage; whether it did is known by the next renewal.
            return True
