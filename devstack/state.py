"""`state.json`: the owner of the directory, its ports, and the processes that it started.

The file outlives its owner on purpose: the next start reads from it which processes a `kill -9`
left running.
"""

import threading
from pathlib import Path

import msgspec
import psutil

from devstack.ports import Ports

# A process's start time is computed from the boot time, which shifts by fractions of a second when
# the machine's clock is corrected.
_CLOCK_TOLERANCE = 2.0


class Identity(msgspec.Struct, frozen=True):
    """A process identified for good. Pids are reused; a pid with its start time is not."""

    pid: int
    started: float

    @classmethod
    def of(cls, pid: int) -> "Identity":
        """Returns the identity of a running process.

        Raises `psutil.NoSuchProcess` if it has ended.
        """
        return cls(pid, psutil.Process(pid).create_time())

    def process(self) -> psutil.Process | None:
        """Returns the process, or None when it has ended, even if its pid was reused."""
        try:
            process = psutil.Process(self.pid)
            same = abs(process.create_time() - self.started) < _CLOCK_TOLERANCE
            return process if same and process.status() != psutil.STATUS_ZOMBIE else None
        except psutil.NoSuchProcess:
            return None


class State(msgspec.Struct):
    """The contents of `state.json`."""

    owner: Identity | None = None
    ports: Ports | None = None
    processes: dict[str, Identity] = msgspec.field(default_factory=dict)


class StateFile:
    """`state.json` of one directory. The threads of the owner may share it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._path = directory / "state.json"
        self._lock = threading.Lock()

    def read(self) -> State:
        """Reads the file. Returns an empty `State` when the file is missing or was cut short."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=State)
        except (FileNotFoundError, msgspec.DecodeError):
            return State()

    def write(self, state: State) -> None:
        """Replaces the file in one step, so that a reader never sees half of it."""
        fresh = self._path.with_suffix(".new")
        fresh.write_bytes(msgspec.json.format(msgspec.json.encode(state), indent=2))
        fresh.chmod(0o600)
        fresh.replace(self._path)

    def record(self, name: str, pid: int) -> None:
        """Records that process `name` now runs as `pid`."""
        with self._lock:
            state = self.read()
            state.processes[name] = Identity.of(pid)
            self.write(state)

    def forget(self, name: str) -> None:
        """Removes the process `name`, which has done its work."""
        with self._lock:
            state = self.read()
            state.processes.pop(name, None)
            self.write(state)

    def clear(self) -> None:
        """Removes the owner and the processes, and keeps the ports for the next start."""
        with self._lock:
            self.write(State(ports=self.read().ports))
