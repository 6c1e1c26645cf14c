"""Leaves the machine to ingest for a moment while events wait to be stored."""

import threading
import time

from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest import backlog

# Ingest that is later than this has the machine for a while.
_LAG_SECS, _LONGEST_SECS = 1.5, 5.0
_POLL_SECS = 0.1


def let_ingest_by(runtime: Runtime, stopping: threading.Event) -> None:
    """Waits while ingest is late, for a few seconds at most, and until `stopping` is set."""
    ends_at = time.monotonic() + _LONGEST_SECS
    while time.monotonic() < ends_at and backlog.lag_secs(runtime.redis) > _LAG_SECS:
        if stopping.wait(_POLL_SECS):
            return
