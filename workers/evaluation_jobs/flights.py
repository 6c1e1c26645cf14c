"""The jobs that a process holds, from their claims to the records of their outcomes."""

import threading
import time
from collections import deque
from dataclasses import dataclass

from shared.evaluation.evaluation_jobs.claims import ClaimedJob
from shared.evaluation.evaluation_jobs.outcomes import Brought

# Outcomes that come in a row are recorded together, until none comes for this time, and at most for
# the second one. The next calls then start together too, and share the cost of their reads.
PAUSE_SECS, GATHER_SECS = 0.01, 0.05

# The largest answers that are recorded together, in bytes; one alone may be larger.
MAX_ANSWERS_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class JobNotSent:
    """The job was not sent, because another worker may have it, or because a store is down.

    In the second case it `is_given_back` for another try.
    """

    is_given_back: bool


Outcome = Brought | JobNotSent


class Flights:
    """Jobs that are being prepared or called, and outcomes that are not recorded; thread-safe."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._landed: deque[tuple[ClaimedJob, Outcome]] = deque()
        self._in_the_air = 0
        self._is_asked = False

    @property
    def held(self) -> int:
        """The number of jobs, including those whose outcome is not recorded yet."""
        with self._changed:
            return self._in_the_air + len(self._landed)

    @property
    def in_the_air(self) -> int:
        """The number of jobs without an outcome."""
        with self._changed:
            return self._in_the_air

    def land(self, job: ClaimedJob, outcome: Outcome) -> None:
        """Adds an outcome."""
        with self._changed:
            self._in_the_air -= 1
            self._landed.append((job, outcome))
            self._changed.notify_all()

    def ask(self) -> None:
        """Ends the wait, because there may be jobs to claim."""
        with self._changed:
            self._is_asked = True
            self._changed.notify_all()

    def was_asked(self) -> bool:
        """Returns whether `ask` was called since the last time."""
        with self._changed:
            was_asked, self._is_asked = self._is_asked, False
            return was_asked

    def wait(self, timeout: float) -> None:
        """Waits for outcomes that can be recorded together, or until somebody asks."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_asked or self._landed, timeout)
            ends, seen = time.monotonic() + GATHER_SECS, 0
            while self._in_the_air and seen < len(self._landed) and time.monotonic() < ends:
                seen = len(self._landed)
                self._changed.wait(PAUSE_SECS)

    def landed(self) -> list[tuple[ClaimedJob, Outcome]]:
        """Returns the oldest outcomes, which stay until they are removed."""
        size = 0
        found: list[tuple[ClaimedJob, Outcome]] = []
        with self._changed:
            for job, outcome in self._landed:
                size += len(getattr(outcome, "body", None) or b"")
                if found and size > MAX_ANSWERS_BYTES:
                    break
                found.append((job, outcome))
        return found

    def replace(self, recorded: int, claimed: int) -> None:
        """Removes the oldest outcomes, because they are recorded, and counts new jobs."""
        with self._changed:
            for _ in range(recorded):
                self._landed.popleft()
            self._in_the_air += claimed
