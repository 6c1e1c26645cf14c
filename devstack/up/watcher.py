"""Restarts programs and servers that end, and reports it."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from devstack.errors import StackError
from devstack.processes import last_lines
from devstack.server import Server
from devstack.up.programs import Program

_LOOK_EVERY_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0

Watched = Program | Server


@dataclass
class _Watch:
    watched: Watched
    started: float = field(default_factory=time.monotonic)
    pause: float = 0.0
    restart_at: float | None = None


class Watcher:
    """Checks every half second. A program that keeps ending waits longer before each restart.

    `longest_pause`: the seconds that it waits at most.
    """

    def __init__(
        self, say: Callable[[str], None], longest_pause: float = LONGEST_PAUSE_SECONDS
    ) -> None:
        self._say = say
        self._longest_pause = longest_pause
        self._watches: list[_Watch] = []
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, watched: Watched) -> None:
        """Looks after `watched` from now on."""
        self._watches.append(_Watch(watched))

    def require_all_running(self) -> None:
        """Raises `StackError` with the last log lines of the first one that has ended."""
        for watch in self._watches:
            if watch.watched.pid is None:
                raise StackError(_obituary(watch.watched))

    def start(self) -> None:
        """Starts the thread that restarts what ends."""
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stops all restarts."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(_LOOK_EVERY_SECONDS):
            for watch in self._watches:
                if watch.watched.pid is None:
                    self._revive(watch, time.monotonic())

    def _revive(self, watch: _Watch, now: float) -> None:
        if watch.restart_at is None:
            self._say(_obituary(watch.watched))
            lasted = now - watch.started > self._longest_pause
            watch.pause = 0.0 if lasted else min(self._longest_pause, max(1.0, 2 * watch.pause))
            watch.restart_at = now + watch.pause
        if now < watch.restart_at:
            return
        watch.started, watch.restart_at = now, None
        try:
            watch.watched.start()
        except (StackError, OSError) as error:
            self._say(f"{watch.watched.name} could not be started again: {error}")
        else:
            self._say(f"{watch.watched.name} started again")


def _obituary(watched: Watched) -> str:
    return f"{watched.name} ended; the last lines of {watched.log}:\n{last_lines(watched.log)}"
