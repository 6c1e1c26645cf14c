"""HTTP to servers that may hang, drip, redirect or flood; nothing outlasts a call."""

import io
import socket
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass

import aiohttp
import yarl
from aiohttp.abc import AbstractResolver
from aiohttp.connector import Connection
from aiohttp.http import HttpProcessingError, RawResponseMessage

from shared.foundation.core.tracing import spans
from shared.foundation.core.version import VERSION

USER_AGENT = f"watchpost/{VERSION}"

# An answer may be preceded by a few informational ones (1xx).
MAX_INFORMATIONAL = 200

# Refuses an address by raising `OSError`, before anything is sent to it.
Check = Callable[[aiohttp.AddrInfoType], None]


@dataclass(frozen=True)
class Request:
    """A request; a `url` that is a string is already encoded and is sent unchanged.

    `template` is the path without ids, for the name of the span.
    """

    method: str
    url: str | yarl.URL
    headers: Mapping[str, str]
    body: bytes | None = None
    template: str | None = None


def bearer(token: str | None) -> dict[str, str]:
    """Returns the header that carries a token, none without a token."""
    return {} if token is None else {"Authorization": f"Bearer {token}"}


@asynccontextmanager
async def answer_to(
    request: Request, *, resolver: AbstractResolver | None = None, check: Check | None = None
) -> AsyncIterator[aiohttp.ClientResponse]:
    """Yields status and headers of the answer, with its body unread. Redirects are answers.

    `check` sees each address right before the connection. Raises `aiohttp.ClientError`, `OSError`
    or `ValueError`. Only the caller's deadline ends it, because aiohttp's own total timeout is
    rounded up to whole seconds above five.
    """
    with _span(request) as span:
        async with _exchange(request, resolver, check) as response:
            span.note("http.response.status_code", response.status)
            if response.status >= 400:
                span.fail(str(response.status))
            yield response


def _span(request: Request) -> spans.BlockSpan:
    attributes = {"http.request.method": request.method}
    name = request.method
    if request.template is not None:
        attributes["url.template"] = request.template
        name = f"{name} {request.template}"
    return spans.work(name, kind="client", attributes=attributes)


@asynccontextmanager
async def _exchange(
    request: Request, resolver: AbstractResolver | None, check: Check | None
) -> AsyncIterator[aiohttp.ClientResponse]:
    url = request.url
    if isinstance(url, str):
        url = yarl.URL(url, encoded=True)
    with _sockets(check) as new_socket:
        # One connection per call: an idle one that the other side has closed would cost an attempt.
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
                # Servers that ignore this may send gzip; see `read_bounded`.
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
    """Returns the body, unpacked if it is gzip; None if it is larger than `most` bytes.

    A body that claims to be gzip and is not stays as it is.
    """
    content = bytearray()
    async for chunk in response.content.iter_any():
        content += chunk
        if len(content) > most:
            response.close()
            return None
    packed = response.headers.get("Content-Encoding", "").strip().lower() in ("gzip", "x-gzip")
    return _unpacked(content, most) if packed else bytes(content)


def _unpacked(content: bytearray, most: int) -> bytes | None:
    """Unpacks at most one byte more than `most`, so a bomb costs no more memory than that."""
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        unpacked = unpacker.decompress(content, most + 1)
    except zlib.error:
        return bytes(content)
    if len(unpacked) > most:
        return None
    return unpacked if unpacker.eof else bytes(content)


class _Response(aiohttp.ClientResponse):
    """An answer that is not preceded by a flood of informational ones.

    Such a flood may be endless, and parsing it leaves no time for other calls.
    """

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        """Starts like aiohttp's own method, which converts the errors raised here."""
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
    """Creates sockets for addresses that pass, and shuts them down at the end of the block.

    An event loop keeps a closed connection while it has data left to write: forever, if the other
    side never reads.
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
