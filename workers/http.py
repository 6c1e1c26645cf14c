"""HTTP to servers that may hang, drip, redirect or flood: nothing of it outlasts a call."""

import io
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass

import aiohttp
import yarl
from aiohttp.abc import AbstractResolver
from aiohttp.connector import Connection
from aiohttp.http import HttpProcessingError, RawResponseMessage

from shared.core.version import VERSION

USER_AGENT = f"watchpost/{VERSION}"

# An answer may have a few informational ones (1xx) before it.
MAX_INFORMATIONAL = 200

# Refuses an address by raising `OSError`, before anything is sent to it.
Check = Callable[[aiohttp.AddrInfoType], None]


@dataclass(frozen=True)
class Request:
    """What is sent; a `url` that is a string is encoded already and goes as it is."""

    method: str
    url: str | yarl.URL
    headers: Mapping[str, str]
    body: bytes | None = None


@asynccontextmanager
async def answer_to(
    request: Request, *, resolver: AbstractResolver | None = None, check: Check | None = None
) -> AsyncIterator[aiohttp.ClientResponse]:
    """Status and headers of the answer, and its body yet to be read. Redirects are answers.

    `check` sees each address right before it is connected to. Raises `aiohttp.ClientError`,
    `OSError` or `ValueError`. No deadline but the caller's ends it: aiohttp's own total timeout is
    rounded up to whole seconds above five.
    """
    url = request.url
    if isinstance(url, str):
        url = yarl.URL(url, encoded=True)
    with _sockets(check) as new_socket:
        # A connection a call: one that the other side closed while it idled would cost an attempt.
        connector = aiohttp.TCPConnector(
            force_close=True,
            socket_factory=new_socket,
            resolver=resolver,
            use_dns_cache=False,
        )
        async with (
            aiohttp.ClientSession(
                connector=connector,
                response_class=_Response,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None),
                auto_decompress=False,
            ) as session,
            session.request(
                request.method,
                url,
                # What is not compressed cannot be a bomb.
                headers={
                    "User-Agent": USER_AGENT,
                    "Accept-Encoding": "identity",
                    **request.headers,
                },
                data=None if request.body is None else io.BytesIO(request.body),
                allow_redirects=False,
            ) as response,
        ):
            yield response


async def read_bounded(response: aiohttp.ClientResponse, most: int) -> bytes | None:
    """The body, None as soon as it turns out larger than `most` bytes."""
    content = bytearray()
    async for chunk in response.content.iter_any():
        content += chunk
        if len(content) > most:
            response.close()
            return None
    return bytes(content)


class _Response(aiohttp.ClientResponse):
    """An answer without a flood of informational ones before it.

    They come without an end, and while they do, taking them apart leaves no time for other calls.
    """

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        """As aiohttp's, which converts what is raised here."""
        protocol = connection.protocol
        if protocol is not None:
            read, left = protocol.read, MAX_INFORMATIONAL

            async def counted() -> tuple[RawResponseMessage, aiohttp.StreamReader]:
                nonlocal left
                left -= 1
                if left < 0:
                    raise HttpProcessingError(message="too many informational answers")
                return await read()

            protocol.read = counted  # type: ignore[method-assign] # of this connection's alone
        return await super().start(connection)


@contextmanager
def _sockets(check: Check | None) -> Iterator[Callable[[aiohttp.AddrInfoType], socket.socket]]:
    """Makes sockets for addresses that pass, and shuts them down at the end of the block.

    An event loop keeps a closed connection for as long as it has something left to write, which
    is for ever when the other side never reads.
    """
    made: list[socket.socket] = []

    def make(address: aiohttp.AddrInfoType) -> socket.socket:
        if check is not None:
            check(address)
        made.append(socket.socket(*address[:3]))
        return made[-1]

    try:
        yield make
    finally:
        for one in made:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
