"""Servers that outlive a run: `bin/test --keep` starts them, `bin/test --stop` ends them.

Each run still begins with empty databases. Rows of an earlier run, or the schema of another branch,
cannot change a test's outcome.
"""

import fcntl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg2
from clickhouse_driver import Client
from redis import Redis

from devstack import DevStack
from devstack.processes import is_alive, last_lines
from devstack.state import StateFile

PROJECT = Path(__file__).resolve().parents[2]
_START_SECS = 60.0


@contextmanager
def kept_stack(directory: Path) -> Iterator[DevStack | None]:
    """Yields the servers of this directory, emptied, or None while another run uses them."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / "in-use").open("w") as in_use:
        try:
            fcntl.flock(in_use, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        owner = StateFile(directory).read().owner
        if owner is None or owner.process() is None:
            _start(directory)
        stack = _AttachedStack(directory)
        stack.attach()
        _empty(stack)
        yield stack
        for server in stack.servers:
            _let_go(server._process)


class _AttachedStack(DevStack):
    """The servers of another process. Tests may kill them and start them again."""

    def attach(self) -> None:
        state = StateFile(self.directory).read()
        assert state.ports is not None
        self._servers = self._make_servers(state.ports)
        for server in self._servers:
            recorded = state.processes.get(server.name)
            process = recorded.process() if recorded else None
            if process is not None:
                server._process = _Attached(process)  # type: ignore[assignment] # as far as used
            server.start()
            server.wait_ready()


class _Attached:
    """The part of `subprocess.Popen` that `Server` uses, for a process that is not our child."""

    def __init__(self, process: psutil.Process) -> None:
        self.pid = process.pid
        self.send_signal = process.send_signal
        self.kill = process.kill
        self._process = process

    def poll(self) -> int | None:
        """Returns None while it runs. Only its parent gets its real return code."""
        return None if is_alive(self._process) else -1

    def wait(self, timeout: float = 60.0) -> None:
        """Waits for the end. Raises `subprocess.TimeoutExpired` as for a child."""
        deadline = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(0.02)


def _start(directory: Path) -> None:
    """Starts a process that owns the servers and does not end with this one."""
    log = directory / "owner.log"
    with log.open("w") as output:
        owner = subprocess.Popen(
            [sys.executable, "-m", "devstack", "up", "--directory", directory],
            cwd=PROJECT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    deadline = time.monotonic() + _START_SECS
    while "CLICKHOUSE_READONLY_URL" not in log.read_text():
        assert owner.poll() is None, last_lines(log)
        assert time.monotonic() < deadline, last_lines(log)
        time.sleep(0.05)
    _let_go(owner)


def _let_go(process: subprocess.Popen[bytes] | None) -> None:
    """Lets a child run on. Without a return code Python warns that nothing waits for it."""
    if process is not None and process.poll() is None:
        process.returncode = 0


def _empty(stack: DevStack) -> None:
    """Drops every database. A server creates its own database when it gets ready."""
    Redis.from_url(stack.urls.redis_url).flushall()
    postgres = psycopg2.connect(f"{stack.urls.database_url.rpartition('/')[0]}/postgres")
    postgres.autocommit = True
    with postgres.cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database WHERE datname ~ '^(watchpost|empty_)'")
        for (database,) in cursor.fetchall():
            cursor.execute(f"DROP DATABASE {database} WITH (FORCE)")
    postgres.close()
    clickhouse = Client.from_url(f"{stack.urls.clickhouse_url.rpartition('/')[0]}/system")
    for (database,) in clickhouse.execute(
        "SELECT name FROM system.databases WHERE match(name, '^(watchpost|analytics|empty_)')"
    ):
        clickhouse.execute(f"DROP DATABASE {database} SYNC")
    clickhouse.disconnect()
    for server in stack.servers:
        server.wait_ready()
