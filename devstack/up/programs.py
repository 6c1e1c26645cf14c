"""Programs of the service, started from command lines as a process manager would."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from devstack.errors import StackError
from devstack.processes import last_lines, spawn, wait_until_gone
from devstack.stack import DevStack

PROJECT = Path(__file__).resolve().parents[2]

_PACKAGES = ("shared", "web", "workers")

# Several commands, or variables set before one: `exec` cannot take such lines.
_COMPOUND = re.compile(r"[;&|]|^\s*\w+=")


@contextmanager
def compiled_meanwhile() -> Iterator[None]:
    """Compiles changed modules during the block, and once.

    Otherwise programs that start together would each compile what they share: always, if the user
    has PYTHONDONTWRITEBYTECODE. A project that cannot be written to stays as it is.
    """
    compiling = subprocess.Popen(
        [sys.executable, "-m", "compileall", "-qq", *_PACKAGES],
        cwd=PROJECT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        compiling.wait()


class Program:
    """One line of the Procfile, or another shell command, run in the project's directory."""

    def __init__(
        self, name: str, command: str, stack: DevStack, environ: Mapping[str, str]
    ) -> None:
        self.name = name
        self.log = stack.directory / "logs" / f"{name}.log"
        self._command = command
        self._stack = stack
        self._environ = environ
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process id while the program runs."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def start(self) -> None:
        """Starts the program and sends its output to `log`."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self._process = spawn(
            ["/bin/sh", "-c", _replacing_the_shell(self._command)],
            directory=self._stack.directory,
            cwd=PROJECT,
            log=self.log,
            environ=self._environ,
        )
        with suppress(ProcessLookupError):
            self._stack.state_file.record(self.name, self._process.pid)

    def run_to_end(self) -> None:
        """Runs the program and waits for its end. Raises `StackError` when it fails."""
        self.start()
        code = self._process.wait() if self._process else 0
        self._stack.state_file.forget(self.name)
        if code != 0:
            raise StackError(f"{self.name} failed:\n{last_lines(self.log)}")

    def ask_to_stop(self) -> None:
        """Sends SIGTERM to the program only. The program stops its own children."""
        if self._process is not None and self.pid is not None:
            self._process.terminate()

    def kill(self) -> None:
        """Sends SIGKILL to the program and its children."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def finish(self, deadline: float) -> None:
        """Waits until `deadline` (`time.monotonic()`), then kills the rest of the session."""
        if self._process is None:
            return
        wait_until_gone(self._process, max(0.0, deadline - time.monotonic()))
        self.kill()
        self._process.wait()


def _replacing_the_shell(command: str) -> str:
    # A shell in between would take the SIGTERM and end without passing it on. Not every shell
    # replaces itself with a single command (dash 0.5.12 does not).
    return f"exec {command}" if not _COMPOUND.search(command) else command
