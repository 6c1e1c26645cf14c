"""HTTP to the evaluator, which may hang, drip, redirect or flood: nothing of it outlasts a call.

The calls run on one event loop in a thread of its own, because only there can a deadline end a
call wherever it stands: resolving, connecting, between two bytes of a header, in the body.
"""

import asyncio
import io
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from urllib.parse import quote

import aiohttp
import yarl

from shared.config import Settings
from shared.evaluation_jobs.answers import MAX_ANSWER_BYTES, Answer, NoAnswer
from shared.version import VERSION

# The loop answers a little after the deadline at the latest; a caller waits no longer than this.
_LOOP_SLACK_SECS = 3.0


class EvaluatorClient:
    """Calls one evaluator; thread-safe. No method raises: a failed call is a `NoAnswer`."""

    def __init__(self, settings: Settings) -> None:
        if settings.evaluator_endpoint is None:
            raise ValueError("there is no evaluator to call")
        self._base = settings.evaluator_endpoint.rstrip("/")
        self._token = settings.evaluator_token
        self._timeout = settings.evaluator_request_timeout_ms / 1000
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="evaluator-client", daemon=True
        )
        self._thread.start()

    def evaluate(self, body: bytes, *, job_id: str, request_id: str) -> Answer | NoAnswer:
        """POST /evaluate with an EvalRequest; repeating it is safe by its Idempotency-Key."""
        headers = {"Content-Type": "application/json", **_job_headers(job_id, request_id)}
        return self._call("POST", "/evaluate", headers, body)

    def poll(self, evaluator_job_id: str, *, job_id: str, request_id: str) -> Answer | NoAnswer:
        """GET /evaluate/{job_id} for what an earlier delivery was answered with."""
        path = f"/evaluate/{quote(evaluator_job_id, safe='')}"
        return self._call("GET", path, _job_headers(job_id, request_id))

    def config(self, *, request_id: str) -> Answer | NoAnswer:
        """GET /config."""
        return self._call("GET", "/config", {"X-Request-Id": request_id})

    def close(self) -> None:
        """Ends the loop once it has let go of the last call's connection."""
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0.01), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _call(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> Answer | NoAnswer:
        future = asyncio.run_coroutine_threadsafe(
            self._within_timeout(method, path, headers, body), self._loop
        )
        try:
            return future.result(self._timeout + _LOOP_SLACK_SECS)
        except TimeoutError:
            future.cancel()
            return self._timed_out()

    async def _within_timeout(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> Answer | NoAnswer:
        # aiohttp's own total timeout is rounded up to whole seconds above five; this one is exact.
        try:
            async with asyncio.timeout(self._timeout):
                return await self._exchange(method, path, headers, body)
        except TimeoutError:
            return self._timed_out()
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return NoAnswer(_connection_error(error), timed_out=False)

    async def _exchange(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> Answer:
        with _sockets() as new_socket:
            # A connection a call: one that the evaluator closed while it idled would cost an
            # attempt.
            connector = aiohttp.TCPConnector(force_close=True, socket_factory=new_socket)
            return await self._request(connector, method, path, headers, body)

    async def _request(
        self,
        connector: aiohttp.TCPConnector,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes | None,
    ) -> Answer:
        async with (
            aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None),
                auto_decompress=False,
            ) as session,
            session.request(
                method,
                yarl.URL(self._base + path, encoded=True),
                headers={**self._common_headers(), **headers},
                data=None if body is None else io.BytesIO(body),
                allow_redirects=False,
            ) as response,
        ):
            content = await _read_bounded(response)
            if response.status >= 300:
                content = self._without_token(content)
            return Answer(response.status, content, response.headers.get("Retry-After"))

    def _common_headers(self) -> dict[str, str]:
        headers = {
            "User-Agent": f"watchpost/{VERSION}",
            "Accept": "application/json",
            # What is not compressed cannot be a bomb.
            "Accept-Encoding": "identity",
        }
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        return headers

    def _without_token(self, content: bytes | None) -> bytes | None:
        """Errors are shown to people, and some servers quote the request in theirs."""
        if content is None or not self._token:
            return content
        return content.replace(self._token.encode(), b"[hidden]")

    def _timed_out(self) -> NoAnswer:
        return NoAnswer(f"no complete answer within {self._timeout:g} s", timed_out=True)


def _job_headers(job_id: str, request_id: str) -> dict[str, str]:
    return {"Idempotency-Key": job_id, "X-Request-Id": request_id}


@contextmanager
def _sockets() -> Iterator[Callable[[aiohttp.AddrInfoType], socket.socket]]:
    """Makes sockets and shuts them down at the end of the block.

    An event loop keeps a closed connection for as long as it has something left to write, which
    is for ever when the other side never reads.
    """
    made: list[socket.socket] = []

    def make(address: aiohttp.AddrInfoType) -> socket.socket:
        made.append(socket.socket(*address[:3]))
        return made[-1]

    try:
        yield make
    finally:
        for one in made:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


async def _read_bounded(response: aiohttp.ClientResponse) -> bytes | None:
    """The body, None as soon as it turns out larger than `MAX_ANSWER_BYTES`."""
    content = bytearray()
    async for chunk in response.content.iter_any():
        content += chunk
        if len(content) > MAX_ANSWER_BYTES:
            response.close()
            return None
    return bytes(content)


def _connection_error(error: Exception) -> str:
    """A sentence for people, without addresses: those are the deployment's business."""
    if isinstance(error, aiohttp.ClientConnectorError):
        return "the evaluator could not be reached"
    if isinstance(error, aiohttp.ClientResponseError):
        return "the evaluator's answer is not HTTP"
    return f"the connection to the evaluator broke ({type(error).__name__})"
