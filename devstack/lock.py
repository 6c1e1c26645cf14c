"""One owner per directory, even while a dead owner's servers are being cleaned up."""

import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

from devstack.errors import StackError, StackRunning
from devstack.state import StateFile

_ROOT = Path(__file__).resolve().parents[1]

# A shell waits for the end of the pipe, because a Python that waits takes 14 MB.
_WAIT_THEN_REAP = 'read -r _; exec "$0" "$@"'

# The time that the reaper of a killed owner may take to end the processes that were left.
_REAPING_SECONDS = 15.0


class DirectoryLock:
    """An exclusive `flock` on `<directory>/lock`.

    The reaper inherits the open file and with it the lock. After a `kill -9` of the owner the lock
    therefore stays held until the reaper is done. Otherwise a new owner could start servers that
    the reaper would take for old ones.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._fd: int | None = None
        self._reaper: subprocess.Popen[bytes] | None = None

    def acquire(self) -> None:
        """Takes the lock. Raises `StackRunning` when a living process has it."""
        try:
            fd = os.open(self._directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except PermissionError as error:
            raise StackError(f"{self._directory} belongs to another user: {error}") from None
        deadline = time.monotonic() + _REAPING_SECONDS
        while not _try_lock(fd):
            owner = StateFile(self._directory).read().owner
            if (owner and owner.process()) or time.monotonic() > deadline:
                os.close(fd)
                who = f" (process {owner.pid})" if owner else ""
                raise StackRunning(f"a stack is already running in {self._directory}{who}")
            time.sleep(0.05)
        self._fd = fd

    def start_reaper(self) -> None:
        """Starts the process that cleans up if this one dies without doing so itself."""
        if self._fd is None:
            raise StackError("the directory is not locked")
        reaper = [sys.executable, "-m", "devstack.reaper", str(self._directory)]
        self._reaper = subprocess.Popen(
            ["/bin/sh", "-c", _WAIT_THEN_REAP, *reaper],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(self._fd,),
            start_new_session=True,
        )

    def release(self) -> None:
        """Lets the reaper end and releases the directory."""
        if self._reaper is not None:
            if self._reaper.stdin is not None:
                self._reaper.stdin.close()
            self._reaper.wait()
            self._reaper = None
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _try_lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
