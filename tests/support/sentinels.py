"""A primary, two replicas and three sentinels on loopback, as in docs/run/growing.md."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import redis

from devstack.ports import LOOPBACK, free_port
from devstack.redis import RedisServer
from devstack.state import StateFile
from tests.support.processes import wait_until

NAME = "main"
REPLICAS = 2
_PASSWORD, _SENTINEL_PASSWORD = "of the servers", "of the sentinels"


class _Server(RedisServer):
    """A server, which follows the one on the port `follows`, or is the first primary."""

    def __init__(self, state_file: StateFile, port: int, follows: int | None) -> None:
        super().__init__(state_file, port)
        self.follows = follows

    def _command(self) -> list[str]:
        followed = ("--replicaof", LOOPBACK, str(self.follows)) if self.follows else ()
        password = ("--requirepass", _PASSWORD, "--masterauth", _PASSWORD)
        # A replica copies the primary at once, and not after a wait for more replicas.
        return [*super()._command(), *followed, *password, "--repl-diskless-sync-delay", "0"]

    def _answers(self) -> bool:
        with suppress(redis.RedisError), self.client() as client:
            return bool(client.info("server")["process_id"] == self.pid)
        return False

    def has_all_replicas(self) -> bool:
        """Returns whether all replicas follow this server."""
        with suppress(redis.RedisError), self.client() as client:
            told = client.info("replication")
            states = [told.get(f"slave{place}", {}).get("state") for place in range(REPLICAS)]
            return states == ["online"] * REPLICAS
        return False

    def client(self) -> redis.Redis:
        """Returns a client of this server alone."""
        return redis.Redis(LOOPBACK, self.port, password=_PASSWORD, socket_timeout=2)


class _Sentinel(RedisServer):
    """A sentinel of the server on the port `watched`; it notices a failure in 1.5 s.

    With less it can mistake the time that it needs to connect to a new primary for a failure.
    """

    def __init__(self, state_file: StateFile, port: int, watched: int) -> None:
        super().__init__(state_file, port)
        self._watched = watched

    def _prepare(self) -> None:
        super()._prepare()
        (self.home / "sentinel.conf").write_text(
            f"bind {LOOPBACK}\nport {self.port}\ndir {self.home}\n"
            f'requirepass "{_SENTINEL_PASSWORD}"\nsentinel sentinel-pass "{_SENTINEL_PASSWORD}"\n'
            f"sentinel monitor {NAME} {LOOPBACK} {self._watched} 2\n"
            f'sentinel auth-pass {NAME} "{_PASSWORD}"\n'
            f"sentinel down-after-milliseconds {NAME} 1500\n"
            f"sentinel failover-timeout {NAME} 1500\n"
            f"sentinel parallel-syncs {NAME} {REPLICAS}\n"
        )

    def _command(self) -> list[str]:
        return [super()._command()[0], "sentinel.conf", "--sentinel"]

    def _answers(self) -> bool:
        with suppress(redis.RedisError), self.client() as client:
            known = client.sentinel_master(NAME)
            others = known["num-other-sentinels"], known["num-slaves"]
            return bool(others == (2, REPLICAS))
        return False

    def client(self) -> redis.Redis:
        """Returns a client of this sentinel."""
        return redis.Redis(LOOPBACK, self.port, password=_SENTINEL_PASSWORD, socket_timeout=2)


class SentinelServers:
    """The servers and their sentinels. `url` is the REDIS_URL for all of them."""

    def __init__(self, directory: Path) -> None:
        ports = [free_port() for _ in range(REPLICAS + 4)]
        first = ports[0]
        homes = [StateFile(directory / str(port)) for port in ports]
        self._servers = [
            _Server(home, port, None if port == first else first)
            for home, port in zip(homes[: REPLICAS + 1], ports, strict=False)
        ]
        self._sentinels = [
            _Sentinel(home, port, first)
            for home, port in zip(homes[REPLICAS + 1 :], ports[REPLICAS + 1 :], strict=True)
        ]
        places = ",".join(f"{LOOPBACK}:{sentinel.port}" for sentinel in self._sentinels)
        secrets = [text.replace(" ", "%20") for text in (_PASSWORD, _SENTINEL_PASSWORD)]
        self.url = (
            f"redis+sentinel://:{secrets[0]}@{places}/{NAME}/0?sentinel_password={secrets[1]}"
        )

    def start(self) -> None:
        """Starts everything and waits until the sentinels know each other and the replicas."""
        for group in (self._servers, self._sentinels):
            for server in group:
                server.start()
            for server in group:
                server.wait_ready()
            # A sentinel looks for replicas only once in 10 s.
            wait_until(self._servers[0].has_all_replicas, 30)

    def stop(self) -> None:
        """Ends all servers."""
        for server in (*self._sentinels, *self._servers):
            server.kill()

    def primary(self) -> _Server:
        """Returns the server that most sentinels name."""
        named = []
        for sentinel in self._sentinels:
            with sentinel.client() as client:
                named.append(client.sentinel_get_master_addr_by_name(NAME)[1])
        port = max(named, key=named.count)
        return next(server for server in self._servers if server.port == port)

    def fail_over(self, *, hang: bool = False) -> None:
        """Ends the primary with SIGKILL, waits for another one, and starts the old one again.

        With `hang` it is stopped meanwhile and goes on, still as a primary for itself.
        """
        old = self.primary()
        assert old.pid is not None
        if hang:
            os.kill(old.pid, signal.SIGSTOP)
        else:
            old.kill()
        try:
            # A sentinel that had no processor for 2 s does nothing for 30 s.
            wait_until(lambda: self.primary() is not old, 90)
        finally:
            if hang:
                os.kill(old.pid, signal.SIGCONT)
        old.follows = self.primary().port
        old.start()
        wait_until(lambda: self.primary().has_all_replicas(), 60)


@contextmanager
def running_sentinels() -> Iterator[SentinelServers]:
    """Yields running servers, which end afterwards."""
    directory = Path(tempfile.mkdtemp(prefix="watchpost-sentinels-"))
    servers = SentinelServers(directory)
    try:
        servers.start()
        yield servers
    finally:
        servers.stop()
        shutil.rmtree(directory, ignore_errors=True)
