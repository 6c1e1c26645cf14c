"""Resolves names, however long a name server takes."""

import asyncio
import socket
import threading
from contextlib import suppress

from aiohttp.abc import AbstractResolver, ResolveResult

# Far above the lookups of requests in flight; only abandoned lookups add to those.
MAX_LOOKUPS = 512

_NUMERIC = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV


class ThreadPerLookup(AbstractResolver):
    """A resolver that calls the operating system, each time in a new thread.

    Name servers that hang would occupy a pool of threads: their lookups continue after the
    delivery's deadline, and a process would wait for them at its end.
    """

    def __init__(self) -> None:
        self._places = threading.BoundedSemaphore(MAX_LOOKUPS)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Returns every address of a name, including numbers in any spelling; raises `OSError`."""
        if not self._places.acquire(blocking=False):
            raise OSError("too many lookups at once")
        loop = asyncio.get_running_loop()
        found: asyncio.Future[list[ResolveResult]] = loop.create_future()

        def settle(result: list[ResolveResult] | OSError) -> None:
            if found.done():
                return
            if isinstance(result, OSError):
                found.set_exception(result)
            else:
                found.set_result(result)

        def look() -> None:
            result: list[ResolveResult] | OSError
            try:
                result = _look_up(host, port, family)
            except OSError as error:
                result = error
            except UnicodeError:
                result = OSError("the name is not valid")
            finally:
                self._places.release()
            with suppress(RuntimeError):  # The loop has ended meanwhile.
                loop.call_soon_threadsafe(settle, result)

        threading.Thread(target=look, name="webhook-lookup", daemon=True).start()
        return await found

    async def close(self) -> None:
        """Does nothing, because nothing is held."""


def _look_up(host: str, port: int, family: socket.AddressFamily) -> list[ResolveResult]:
    answers = socket.getaddrinfo(
        host, port, family=family, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG
    )
    return [
        ResolveResult(
            hostname=host,
            host=str(sockaddr[0]),
            port=int(sockaddr[1]),
            family=found_family,
            proto=protocol,
            flags=_NUMERIC,
        )
        for found_family, _, protocol, _, sockaddr in answers
    ]
