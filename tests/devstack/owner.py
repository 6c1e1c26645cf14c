"""A stack owned by another process, as a person runs `python -m devstack up`."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from devstack.accounts import Account
from devstack.lock import DirectoryLock
from devstack.processes import end, leftovers
from devstack.state import StateFile

PROJECT = Path(__file__).resolve().parents[2]


class Owner:
    """The process and its output: one `export NAME=url` line for each variable."""

    def __init__(self, directory: Path, account: Account | None, python: str) -> None:
        self.directory = directory
        self.process = subprocess.Popen(
            [python, "-m", "devstack", "up", "--directory", str(directory)],
            cwd=PROJECT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=() if account else None,
        )

    def urls(self) -> dict[str, str]:
        """Waits until the stack is ready. Raises `AssertionError` with the output if it fails."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        lines = [self.process.stdout.readline().strip() for _ in range(4)]
        assert all(lines), self.process.stderr.read()
        return dict(line.removeprefix("export ").split("=", 1) for line in lines)

    def wait_for_leftovers_to_end(self, seconds: float = 60.0) -> None:
        """Waits until no process of the stack runs any more."""
        deadline = time.monotonic() + seconds
        while left := leftovers(self.directory, StateFile(self.directory).read()):
            assert time.monotonic() < deadline, left
            time.sleep(0.05)


@contextmanager
def owned_stack(
    directory: Path, account: Account | None = None, python: str = sys.executable
) -> Iterator[Owner]:
    """Runs an `Owner` and ends it afterwards, with everything it started."""
    owner = Owner(directory, account, python)
    try:
        yield owner
    finally:
        owner.process.terminate()
        owner.process.communicate(timeout=60)
        end(leftovers(directory, StateFile(directory).read()))
        lock = DirectoryLock(directory)
        lock.acquire()  # the reaper of a killed owner may still be writing there
        lock.release()
