"""Runs groups of queues in processes of their own and restarts these when they die.

Everything is imported once, before the processes are forked, so they share the memory of the code.
"""

import gc
import os
import signal
import time
from collections.abc import Callable
from functools import partial

import click

from shared.foundation.core.config import Settings, load_settings
from shared.foundation.core.errors import ConfigurationError
from shared.foundation.core.logs import configure_logging, get_logger
from shared.foundation.core.metrics.exporter import Exporter
from shared.foundation.core.tracing.exporter import Tracing
from workers import main as worker
from workers.forking import LifeLine, fork
from workers.groups import GAUGES_IN, GROUPS, name_of, processes_of, type_of

log = get_logger(__name__)

FIRST_RESTART_SECS = 0.5
LAST_RESTART_SECS = 15.0
STABLE_SECS = 30.0
STOP_SECS = 28.0
_LOOK_SECS = 0.2


class Child:
    """A process that calls `run`; a crash loop is slowed down to one start in 15 s."""

    def __init__(self, name: str, run: Callable[[], None]) -> None:
        self._name = name
        self._run = run
        self._pause = FIRST_RESTART_SECS
        self._start_at = 0.0
        self._pid: int | None = None

    def keep_running(self) -> None:
        """Starts the process if it is not running and its pause is over."""
        now = time.monotonic()
        if self._pid is not None:
            code = self._poll()
            if code is None:
                return
            log.error("worker_died", group=self._name, exit_code=code)
            stable = now - self._start_at > STABLE_SECS
            self._pause = FIRST_RESTART_SECS if stable else min(self._pause * 2, LAST_RESTART_SECS)
            self._start_at = now + self._pause
        if now >= self._start_at:
            self._start_at = now
            self._pid = fork(self._run)

    def stop(self, deadline: float) -> None:
        """Waits for a process that was asked to stop, and kills it at the deadline."""
        while self._pid is not None and self._poll() is None:
            if time.monotonic() > deadline:
                self._signal(signal.SIGKILL)
            time.sleep(0.02)

    def terminate(self) -> None:
        """Asks the process to stop."""
        self._signal(signal.SIGTERM)

    def _poll(self) -> int | None:
        """Returns the exit code once the process has ended."""
        if self._pid is None:
            return None
        ended, status = os.waitpid(self._pid, os.WNOHANG)
        if not ended:
            return None
        self._pid = None
        return os.waitstatus_to_exitcode(status)

    def _signal(self, number: signal.Signals) -> None:
        if self._pid is not None:
            os.kill(self._pid, number)


def supervise(groups: tuple[str, ...], settings: Settings) -> None:
    """Keeps the processes of these groups running until SIGTERM or SIGINT."""
    # A child inherits the event and its signal handlers, so no signal is lost after a fork.
    stop = worker.stop_on_signals()
    line = LifeLine()
    gc.disable()  # A collection would leave holes in the memory that is to be shared.
    metrics, tracing = Exporter(settings, type_of(groups)), Tracing(settings)
    runtime = worker.prepare(settings, groups)
    worker.rehearse(runtime)
    gc.freeze()
    gc.enable()

    def run(mine: tuple[str, ...], is_first: bool) -> None:
        line.stop_with_parent(stop)
        answers = GAUGES_IN in mine or GAUGES_IN not in groups
        worker.work(runtime, mine, stop, metrics, tracing, answers=answers, is_first=is_first)

    processes = processes_of(groups, settings)
    children = [
        Child(name_of(mine), partial(run, mine, mine not in processes[:place]))
        for place, mine in enumerate(processes)
    ]
    while not stop.is_set():
        for child in children:
            child.keep_running()
        stop.wait(_LOOK_SECS)
    for child in children:
        child.terminate()
    deadline = time.monotonic() + STOP_SECS
    for child in children:
        child.stop(deadline)
    line.close()


@click.command()
@click.argument("groups", nargs=-1, type=click.Choice(sorted(GROUPS)))
def main(groups: tuple[str, ...]) -> None:
    """Run worker processes for GROUPS, all of them by default."""
    try:
        settings = load_settings()
    except ConfigurationError as error:
        raise click.ClickException(str(error)) from None
    configure_logging(settings, "worker")
    try:
        supervise(groups or tuple(GROUPS), settings)
    except ConfigurationError as error:
        raise click.ClickException(str(error)) from None


if __name__ == "__main__":
    main()
