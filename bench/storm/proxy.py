"""Proxies between the processes and the stores, which delay what passes or drop connections."""

import asyncio
import socket
import struct
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from devstack.ports import LOOPBACK

_PIECE = 65_536

T = TypeVar("T")


class Proxy:
    """Passes connections on to `target`, a port on loopback, from a `port` of its own.

    `delay` is the time in seconds that each piece waits in each direction.
    """

    def __init__(self, target: int) -> None:
        self._target = target
        self._writers: set[asyncio.StreamWriter] = set()
        self.port = 0
        self.delay = 0.0

    async def listen(self) -> asyncio.Server:
        """Starts to listen."""
        server = await asyncio.start_server(self._serve, LOOPBACK)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def drop(self) -> None:
        """Resets all connections, as a network does that lost them."""
        for writer in list(self._writers):
            _reset(writer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_connection(LOOPBACK, self._target)
        except OSError:
            _reset(writer)
            return
        self._writers |= {writer, back}
        try:
            await asyncio.gather(self._pass_on(reader, back), self._pass_on(there, writer))
        finally:
            self._writers -= {writer, back}

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while piece := await reader.read(_PIECE):
                if self.delay:
                    await asyncio.sleep(self.delay)
                writer.write(piece)
                await writer.drain()
        writer.close()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Closes a connection so that the other side gets an error, and not an end."""
    no_wait = struct.pack("ii", 1, 0)
    # The connection may have been closed a moment ago.
    with suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, no_wait)
    writer.transport.abort()


class Proxies:
    """Proxies by the names of their stores, on an event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._servers: list[asyncio.Server] = []
        self._proxies: dict[str, Proxy] = {}

    def add(self, name: str, target: int) -> int:
        """Starts a proxy and returns its port."""
        proxy = self._proxies[name] = Proxy(target)
        self._servers.append(self._wait(proxy.listen()))
        return proxy.port

    def slow_down(self, name: str, delay: float) -> None:
        """Delays each piece by so many seconds from now on; 0 ends it."""
        self._proxies[name].delay = delay

    def drop(self, name: str) -> None:
        """Resets all connections to a store."""
        self._wait(self._proxies[name].drop())

    @contextmanager
    def running(self) -> Iterator["Proxies"]:
        """Runs the event loop."""
        thread = threading.Thread(target=self._loop.run_forever, name="proxies", daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._wait(self._end())
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join()
            self._loop.close()

    async def _end(self) -> None:
        for server in self._servers:
            server.close()
        for proxy in self._proxies.values():
            await proxy.drop()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(30)
