"""Which loopback ports the servers listen on."""

import itertools
import os
import socket
from collections.abc import Callable
from dataclasses import asdict, dataclass

from devstack.errors import StackError

LOOPBACK = "127.0.0.1"

# Below the range from which Linux takes the ports of outgoing connections (32768-60999): a client
# that reconnects to a server that is down could else occupy the very port of that server.
_LOWEST, _HIGHEST = 20000, 32000

# Each process tries them from a place of its own, a hundred apart: what two processes find free at
# the same moment is not the same port.
_candidates = itertools.count(os.getpid() * 101)


def is_free(port: int) -> bool:
    """Whether a server could listen on this loopback port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
            probe.listen(1)
        except OSError:
            return False
    return True


def free_port() -> int:
    """A loopback port that nothing listens on.

    Raises `StackError` when a hundred tries found none.
    """
    for _ in range(100):
        port = _LOWEST + next(_candidates) % (_HIGHEST - _LOWEST)
        if is_free(port):
            return port
    raise StackError(f"no free port found on {LOOPBACK} between {_LOWEST} and {_HIGHEST}")


@dataclass(frozen=True)
class Ports:
    """One port per server. The defaults keep clear of servers that listen on their usual ports."""

    postgres: int = 15432
    redis: int = 16379
    clickhouse: int = 19000

    @classmethod
    def free(cls) -> "Ports":
        """Three free ports, for a stack that must not meet another one (tests)."""
        return cls(*_distinct_free_ports(3))

    def moved_where_taken(self, say: Callable[[str], None]) -> "Ports":
        """The same ports, each one that is taken replaced by a free one; `say` is told which."""
        chosen = asdict(self)
        for name, port in asdict(self).items():
            if not is_free(port):
                chosen[name] = free_port()
                say(f"port {port} is taken: {name} listens on {chosen[name]} instead")
        return Ports(**chosen)

    def are_free(self) -> bool:
        """Whether nothing listens on any of them."""
        return all(map(is_free, asdict(self).values()))

    def require_free(self) -> "Ports":
        """The same ports; raises `StackError` naming the first that is taken."""
        for name, port in asdict(self).items():
            if not is_free(port):
                raise StackError(f"port {port}, asked for {name}, is taken")
        return self


def _distinct_free_ports(count: int) -> list[int]:
    found: set[int] = set()
    while len(found) < count:
        found.add(free_port())
    return list(found)
