"""The stack: the three servers in one directory, under one owner."""

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from devstack.clickhouse import ClickHouseServer
from devstack.errors import StackError
from devstack.lock import DirectoryLock
from devstack.ports import Ports
from devstack.postgres import PostgresServer
from devstack.reaper import reap
from devstack.redis import RedisServer
from devstack.server import Server
from devstack.state import Identity, State, StateFile

ALL_SERVERS = frozenset({"postgres", "redis", "clickhouse"})

# The attempts to start on free ports: another process may take one before the server does.
_ATTEMPTS = 5


@dataclass(frozen=True)
class StackUrls:
    """The URLs of the servers. The field names are the service's variables in lower case."""

    database_url: str
    redis_url: str
    clickhouse_url: str
    clickhouse_readonly_url: str


class DevStack:
    """PostgreSQL, Valkey and ClickHouse with their data in `directory`.

    `ports`: exactly these, or for None those of the last start, or the defaults; a taken one is
    then replaced. `servers`: the servers to start. `say` gets the messages for people. A restart
    keeps the data and, where possible, the ports. No process that is recorded in `state_file`
    outlives the owner.
    """

    def __init__(
        self,
        directory: Path | str,
        ports: Ports | None = None,
        *,
        servers: Collection[str] = ALL_SERVERS,
        say: Callable[[str], None] = lambda _message: None,
    ) -> None:
        self.directory = Path(directory).expanduser().resolve()
        self._wanted_ports = ports
        self._wanted_servers = ALL_SERVERS & frozenset(servers)
        self._say = say
        self._lock = DirectoryLock(self.directory)
        self.state_file = StateFile(self.directory)
        self._servers: tuple[RedisServer, ClickHouseServer, PostgresServer] | None = None

    def start(self) -> None:
        """Starts the servers and waits until all of them answer.

        Raises `StackRunning` when another process has a stack in this directory, and `StackError`
        when a server does not start. No server is left running then.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        self._lock.acquire()
        try:
            left = reap(self.directory)
            if left:
                self._say(f"ended {left} processes that an earlier run left behind")
            self._lock.start_reaper()
            self._start_servers()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stops the servers in order and releases the directory. Harmless when not started."""
        self._stop_servers()
        self._lock.release()

    @property
    def servers(self) -> list[Server]:
        """The servers that were started."""
        return [server for server in self._all() if server.name in self._wanted_servers]

    @property
    def postgres(self) -> PostgresServer:
        """The PostgreSQL server of the started stack."""
        return self._all()[2]

    @property
    def redis(self) -> RedisServer:
        """The Redis server of the started stack."""
        return self._all()[0]

    @property
    def clickhouse(self) -> ClickHouseServer:
        """The ClickHouse server of the started stack."""
        return self._all()[1]

    @property
    def urls(self) -> StackUrls:
        """The URLs of the started stack."""
        return StackUrls(
            self.postgres.url, self.redis.url, self.clickhouse.url, self.clickhouse.readonly_url
        )

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def _start_servers(self) -> None:
        """Starts the servers. Changes ports when another stack that starts as well was faster."""
        for attempts_left in reversed(range(_ATTEMPTS)):
            ports = self._choose_ports()
            self._servers = self._make_servers(ports)
            try:
                for server in self.servers:
                    server.start()
                for server in self.servers:
                    server.wait_ready()
            except StackError:
                self._stop_servers()
                if self._wanted_ports is not None or not attempts_left or ports.are_free():
                    raise
            else:
                return

    def _stop_servers(self) -> None:
        if self._servers is not None:
            for server in self._servers:
                server.stop()
            self.state_file.clear()
            self._servers = None

    def _choose_ports(self) -> Ports:
        if self._wanted_ports is not None:
            ports = self._wanted_ports.require_free()
        else:
            earlier = self.state_file.read().ports or Ports()
            ports = earlier.moved_where_taken(self._say)
        self.state_file.write(State(owner=Identity.of(os.getpid()), ports=ports))
        return ports

    def _make_servers(self, ports: Ports) -> tuple[RedisServer, ClickHouseServer, PostgresServer]:
        return (
            RedisServer(self.state_file, ports.redis),
            ClickHouseServer(self.state_file, ports.clickhouse),
            PostgresServer(self.state_file, ports.postgres, self._say),
        )

    def _all(self) -> tuple[RedisServer, ClickHouseServer, PostgresServer]:
        if self._servers is None:
            raise StackError("the stack is not started")
        return self._servers
