"""The loopback ports of the servers."""

import itertools
import os
import socket
from collections.abc import Callable
from dataclasses import asdict, dataclass

from devstack.errors import StackError

LOOPBACK = "127.0.0.1"

# These ports lie below the range that Linux uses for outgoing connections (32768-60999). Otherwise
# a client that reconnects to a server that is down could occupy that server's port.
_LOWEST, _HIGHEST = 20000, 32000

# Each process starts at a different port, at least a hundred away from the next process. Two
# processes that search at the same moment then do not find the same free port.
_candidates = itertools.count(os.getpid() * 101)


def is_free(port: int) -> bool:
    """Returns whether a server could listen on this loopback port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
            probe.listen(1)
        except OSError:
            return False
    return True


def free_port() -> int:
    """Returns a free loopback port.

    Raises `StackError` after a hundred ports that are taken.
    """
    for _ in range(100):
        port = _LOWEST + next(_candidates) % (_HIGHEST - _LOWEST)
        if is_free(port):
            return port
    raise StackError(f"no free port found on {LOOPBACK} between {_LOWEST} and {_HIGHEST}")


@dataclass(frozen=True)
class Ports:
    """One port for each server. The defaults avoid the usual ports of these servers."""

    postgres: int = 15432
    redis: int = 16379
    clickhouse: int = 19000

    @classmethod
    def free(cls) -> "Ports":
        """Returns three free ports, for a stack that must not meet another one (tests)."""
        found: set[int] = set()
        while len(found) < 3:
            found.add(free_port())
        return cls(*found)

    def moved_where_taken(self, say: Callable[[str], None]) -> "Ports":
        """Returns the ports with free ones for those taken, and reports each change to `say`."""
        chosen = asdict(self)
        for name, port in asdict(self).items():
            if not is_free(port):
                chosen[name] = free_port()
                say(f"port {port} is taken: {name} listens on {chosen[name]} instead")
        return Ports(**chosen)

    def are_free(self) -> bool:
        """Returns whether all of the ports are free."""
        return all(map(is_free, asdict(self).values()))

    def require_free(self) -> "Ports":
        """Returns the same ports. Raises `StackError` naming the first one that is taken."""
        for name, port in asdict(self).items():
            if not is_free(port):
                raise StackError(f"port {port}, chosen for {name}, is taken")
        return self
