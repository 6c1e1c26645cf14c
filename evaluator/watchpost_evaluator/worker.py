"""The command `work`: a worker of a pool, which asks Watchpost for sessions and submits results."""

from __future__ import annotations

import os
import random
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence

from watchpost_evaluator import __version__
from watchpost_evaluator.assignment import AssignedWork
from watchpost_evaluator.connection import Target
from watchpost_evaluator.definition import Evaluator
from watchpost_evaluator.errors import CredentialRefused, KitError, Unreachable, UsageError
from watchpost_evaluator.outcome import late_runs
from watchpost_evaluator.protocol import (
    MOST_CONCURRENCY,
    MOST_DEFINITIONS,
    Assignment,
    ProtocolError,
    Timings,
    WorkerClient,
)

_LONGEST_WAIT_SECS = 30.0
# How often a wait looks whether a signal came: a handler must take no lock.
_LOOK_SECS = 0.1
_LONGEST_ID = 128


def work(evaluators: Sequence[Evaluator], target: Target, concurrency: int, *, once: bool) -> int:
    """Works until SIGTERM or SIGINT, or with `once` until nothing is due. Raises `KitError`.

    A signal lets what runs finish; the second one ends at once.
    """
    worker = Worker(evaluators, target, concurrency)

    def stop(number: int, _frame: object) -> None:
        worker.is_stopping = True
        signal.signal(number, signal.SIG_DFL)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    return worker.run(once=once)


class Worker:
    """A worker. `is_stopping`: set it to let what runs finish, and take nothing more."""

    def __init__(self, evaluators: Sequence[Evaluator], target: Target, concurrency: int) -> None:
        if not 1 <= concurrency <= MOST_CONCURRENCY:
            raise UsageError(f"--concurrency is between 1 and {MOST_CONCURRENCY}")
        if len(evaluators) > MOST_DEFINITIONS:
            raise UsageError(f"a worker has at most {MOST_DEFINITIONS} evaluators")
        keys = [one.key for one in evaluators]
        for key in keys:
            if keys.count(key) > 1:
                raise UsageError(f"a worker runs one version of {key}: let another run the other")
        self.is_stopping = False
        self._concurrency = concurrency
        self._catalogue = {(one.key, one.version): one for one in evaluators}
        self._client = WorkerClient(
            target, _worker_id(), f"watchpost-evaluator {__version__}", evaluators
        )
        self._places = threading.Semaphore(concurrency)
        self._active: set[threading.Thread] = set()
        self._freed = threading.Event()
        self._failures = 0
        # Whether it registered again, and no claim worked since.
        self._is_new = False

    def run(self, *, once: bool) -> int:
        """Registers, and works. Raises `KitError`."""
        timings = None
        try:
            while not self.is_stopping:
                try:
                    timings = timings or self._register()
                    is_idle = self._turn(timings)
                    self._failures, self._is_new = 0, False
                    if is_idle and once:
                        break
                    self._wait(timings.poll_secs, until_free=True)
                except (ProtocolError, Unreachable) as error:
                    if self._is_forgotten(error):
                        timings = None
                    else:
                        self._wait_after(error, once=once)
        finally:
            for thread in list(self._active):
                thread.join()
        return 0

    def _register(self) -> Timings:
        timings = self._client.register(self._concurrency)
        names = sorted(one.name for one in self._catalogue.values())
        sys.stdout.write(f"working for the pool: {', '.join(names)}\n")
        for key in sorted(timings.disabled):
            sys.stdout.write(f"Watchpost has {key} switched off, or it is not this pool's\n")
        sys.stdout.flush()
        return timings

    def _turn(self, timings: Timings) -> bool:
        """Claims what there is room for; returns whether nothing was due and nothing runs."""
        self._freed.clear()
        late = late_runs()
        room = min(self._concurrency, timings.claim_limit) - len(self._active) - late
        if room <= 0 and not self._active:
            raise KitError(
                f"{late} functions still run after their time and take every place:"
                " make them end, and start the worker again"
            )
        for assignment in self._client.claim(room) if room > 0 else ():
            self._begin(assignment, timings)
        return not self._active

    def _begin(self, assignment: Assignment, timings: Timings) -> None:
        work = AssignedWork(assignment, self._client, timings, self._catalogue, self._places)

        def process() -> None:
            try:
                work.process()
            finally:
                self._active.discard(threading.current_thread())
                self._freed.set()

        thread = threading.Thread(target=process, daemon=True)
        self._active.add(thread)
        thread.start()

    def _is_forgotten(self, error: KitError) -> bool:
        """Returns whether to register again: Watchpost does not have what this worker told it."""
        if self._is_new or not isinstance(error, ProtocolError):
            return False
        self._is_new = error.code == "catalog_mismatch"
        return self._is_new

    def _wait_after(self, error: ProtocolError | Unreachable, *, once: bool) -> None:
        if isinstance(error, ProtocolError) and error.http_status in (401, 403):
            raise CredentialRefused(
                f"Watchpost refused the token: {error}. Check WATCHPOST_POOL_TOKEN; a new token"
                " of a pool ends the old one."
            )
        if once or (isinstance(error, ProtocolError) and not error.retryable):
            raise error
        self._failures += 1
        longest = min(_LONGEST_WAIT_SECS, 2.0 ** min(self._failures - 1, 10))
        wait = random.uniform(longest / 2, longest)  # noqa: S311 spreads many workers
        sys.stderr.write(f"{error} Trying again in {wait:.1f} s.\n")
        self._wait(wait)

    def _wait(self, secs: float, *, until_free: bool = False) -> None:
        """Waits, but not on when the worker is to stop, or when there is room if that counts."""
        ends = time.monotonic() + secs
        while not self.is_stopping and time.monotonic() < ends:
            step = min(_LOOK_SECS, secs)
            if not until_free:
                time.sleep(step)
            elif self._freed.wait(step):
                return


def _worker_id() -> str:
    """Returns an id that no other worker has, nor an earlier one of this host and process id."""
    unique = f"{os.getpid()}-{random.randrange(16**6):06x}"  # noqa: S311 no secret
    return f"{socket.gethostname()[: _LONGEST_ID - len(unique) - 1]}-{unique}"
