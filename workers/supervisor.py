"""Runs each group of queues in its own processes and restarts them when they die."""

import os
import signal
import subprocess
import sys
import threading
import time

import click

from shared.core.config import Settings, load_settings
from shared.core.errors import ConfigurationError
from shared.core.logs import configure_logging, get_logger
from workers.groups import GROUPS

log = get_logger(__name__)

FIRST_RESTART_SECS = 0.5
LAST_RESTART_SECS = 15.0
STABLE_SECS = 30.0
STOP_SECS = 28.0


class Child:
    """A process of a group; a crash loop is slowed down to one start in 15 s."""

    def __init__(self, group: str) -> None:
        self.group = group
        self._pause = FIRST_RESTART_SECS
        self._start_at = 0.0
        self._process: subprocess.Popen[bytes] | None = None

    def keep_running(self) -> None:
        """Starts the process if it is not running and its pause is over."""
        now = time.monotonic()
        if self._process is not None:
            code = self._process.poll()
            if code is None:
                return
            log.error("worker_died", group=self.group, exit_code=code)
            stable = now - self._start_at > STABLE_SECS
            self._pause = FIRST_RESTART_SECS if stable else min(self._pause * 2, LAST_RESTART_SECS)
            self._start_at = now + self._pause
            self._process = None
        if now >= self._start_at:
            self._start_at = now
            # stdin is the life line: it closes with us however we end, and then the child stops.
            self._process = subprocess.Popen(
                [sys.executable, "-m", "workers.main", self.group],
                stdin=subprocess.PIPE,
                env={**os.environ, "WATCHPOST_SUPERVISED": "1"},
            )

    def stop(self, deadline: float) -> None:
        """Waits for a process that was asked to stop, and kills it at the deadline."""
        if self._process is None:
            return
        try:
            self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def terminate(self) -> None:
        """Asks the process to stop."""
        if self._process is not None:
            self._process.terminate()


def supervise(groups: tuple[str, ...], settings: Settings) -> None:
    """Keeps the processes of these groups running until SIGTERM or SIGINT."""
    stop = threading.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda *_: stop.set())
    children = [Child(group) for group in groups for _ in range(GROUPS[group].processes(settings))]
    while not stop.wait(0.2):
        for child in children:
            child.keep_running()
    for child in children:
        child.terminate()
    deadline = time.monotonic() + STOP_SECS
    for child in children:
        child.stop(deadline)


@click.command()
@click.argument("groups", nargs=-1, type=click.Choice(sorted(GROUPS)))
def main(groups: tuple[str, ...]) -> None:
    """Run worker processes for GROUPS, all of them by default."""
    try:
        settings = load_settings()
    except ConfigurationError as error:
        raise click.ClickException(str(error)) from None
    configure_logging(settings, "worker")
    supervise(groups or tuple(GROUPS), settings)


if __name__ == "__main__":
    main()
