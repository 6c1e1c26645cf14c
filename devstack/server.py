"""The common parts of the three servers: start, wait, stop, kill, restart on the same port."""

import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from devstack.accounts import Account
from devstack.errors import StackError
from devstack.processes import last_lines, spawn, wait_until_gone
from devstack.state import StateFile


class Server(ABC):
    """One server of the stack. `name` is also the name of its folder and its log."""

    name: ClassVar[str]
    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM
    kill_signal: ClassVar[signal.Signals] = signal.SIGKILL
    account: Account | None = None

    def __init__(self, state_file: StateFile, port: int) -> None:
        self.port = port
        self.home = state_file.directory / self.name
        self.log = state_file.directory / "logs" / f"{self.name}.log"
        self._state_file = state_file
        self._process: subprocess.Popen[bytes] | None = None

    @property
    @abstractmethod
    def url(self) -> str:
        """The URL for clients."""

    @property
    def pid(self) -> int | None:
        """The process id while the server runs."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def start(self) -> None:
        """Starts the server and returns at once; see `wait_ready`. Does nothing while it runs."""
        if self.pid is not None:
            return
        self.home.mkdir(parents=True, exist_ok=True)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self._prepare()
        self._process = spawn(
            self._command(),
            directory=self._state_file.directory,
            cwd=self.home,
            log=self.log,
            account=self.account,
        )
        self._state_file.record(self.name, self._process.pid)

    def wait_ready(self, timeout: float = 60.0) -> None:
        """Waits until the server answers and its database exists.

        Raises `StackError` with the end of the log when the server ends or `timeout` seconds pass.
        """
        deadline = time.monotonic() + timeout
        while True:
            answers = self._answers()
            if self.pid is None:
                raise StackError(f"{self.name} ended at once:\n{last_lines(self.log)}")
            if answers:
                return
            if time.monotonic() > deadline:
                raise StackError(
                    f"{self.name} did not answer within {timeout:g} s:\n{last_lines(self.log)}"
                )
            time.sleep(0.02)

    def stop(self, timeout: float = 10.0) -> None:
        """Shuts the server down in order and kills it after `timeout` seconds."""
        self._end(self._ask_to_stop, timeout)

    def kill(self) -> None:
        """Ends the server at once (see `kill_signal`)."""
        self._end(lambda process: process.send_signal(self.kill_signal), timeout=10.0)

    def _end(self, ask: Callable[[subprocess.Popen[bytes]], None], timeout: float) -> None:
        if self.pid is None or self._process is None:
            return
        ask(self._process)
        if not wait_until_gone(self._process, timeout):
            self._process.kill()
            self._process.wait()

    def _ask_to_stop(self, process: subprocess.Popen[bytes]) -> None:
        process.send_signal(self.stop_signal)

    @abstractmethod
    def _prepare(self) -> None:
        """Creates the files that the server needs before it can start."""

    @abstractmethod
    def _command(self) -> list[str]:
        """Returns the command line, which runs in `home`."""

    @abstractmethod
    def _answers(self) -> bool:
        """Returns whether the server answers. Creates its database the first time.

        Also returns False when another stack's server answers: it may have taken the port at the
        same moment, before this server notices.
        """
