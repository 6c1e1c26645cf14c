"""The files in which the processes of a process type count, so that one of them can answer for all.

A process counts in a slot: files with a number, under a lock that ends with the process. The next
process that starts takes the lowest free slot and goes on from its numbers. So there are as many
files as processes ran at once, and no number falls when a process dies.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from shared.foundation.core.errors import ConfigurationError

_SLOTS = 1024


@dataclass(frozen=True)
class RunningProcess:
    """A running process with a slot."""

    slot: int
    pid: int
    name: str


class ProcessSlots:
    """The slots in one directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @classmethod
    def of_port(cls, port: int) -> "ProcessSlots":
        """Returns the slots of the process type that answers on this port of this machine.

        The port belongs to one program at a time, so the directory does too. Files of an earlier
        run are removed, unless a process of it still runs. Raises `ConfigurationError` if the
        directory belongs to another user.
        """
        base = Path(tempfile.gettempdir()) / f"watchpost-metrics-{os.getuid()}"
        slots = cls(base / str(port))
        for directory in (base, slots.directory):
            directory.mkdir(mode=0o700, exist_ok=True)
            found = directory.lstat()
            if found.st_uid != os.getuid() or not directory.is_dir() or directory.is_symlink():
                raise ConfigurationError(f"{directory} belongs to another user: set TMPDIR")
        if not any(slots.running()):
            for file in slots.directory.glob("*.db"):
                file.unlink(missing_ok=True)
        return slots

    def take(self, name: str) -> int:
        """Takes the lowest free slot until this process ends; returns its number."""
        for slot in range(_SLOTS):
            # Never closed: its lock ends with the process.
            file = (self.directory / f"{slot}.slot").open("a+")
            if _locked(file):
                file.truncate(0)
                file.write(f"{os.getpid()} {name}")
                file.flush()
                _HELD.append(file)
                return slot
            file.close()
        raise ConfigurationError(f"{_SLOTS} processes already count in {self.directory}")

    def running(self) -> Iterator[RunningProcess]:
        """Yields the running processes, by slot."""
        for path in sorted(self.directory.glob("*.slot"), key=lambda path: int(path.stem)):
            with suppress(OSError, ValueError), path.open("r+") as file:
                if not _locked(file):
                    pid, name = file.read().split(maxsplit=1)
                    yield RunningProcess(int(path.stem), int(pid), name)

    def wait_for_turn(self) -> None:
        """Returns once this process alone answers for all of them, until it ends."""
        file = (self.directory / "answers").open("a+")
        fcntl.flock(file, fcntl.LOCK_EX)
        _HELD.append(file)


# Files whose locks belong to this process.
_HELD: list[IO[str]] = []


def _locked(file: IO[str]) -> bool:
    """Locks a file if it is free; returns whether it was."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
