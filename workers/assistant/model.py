"""A client of a server that speaks OpenAI's chat completions, streamed.

The server may hang, drip, flood, die or answer nonsense. Each ends in one `ModelFailed`.
"""

import asyncio
import queue
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

import aiohttp
import msgspec

from shared.assistant.limits import MAX_MODEL_BYTES
from shared.assistant.model import ModelFailed, ModelRefused, Piece
from shared.foundation.core.config import Settings
from workers.call_loop import CallLoop
from workers.http import Request, answer_to, bearer

FIRST_BYTE_SECS = 60.0
SILENCE_SECS = 30.0
_LONGEST_LINE = 1024 * 1024
# The longest time between two looks at whether the turn was cancelled.
_LOOK_SECS = 0.25


class _End(NamedTuple):
    failure: ModelFailed | None


class ChatModel:
    """The server of ASSISTANT_BASE_URL; thread-safe."""

    def __init__(
        self,
        settings: Settings,
        *,
        first_byte_secs: float = FIRST_BYTE_SECS,
        silence_secs: float = SILENCE_SECS,
    ) -> None:
        if settings.assistant_base_url is None:
            raise ValueError("ASSISTANT_BASE_URL is not set")
        self._url = f"{settings.assistant_base_url.rstrip('/')}/chat/completions"
        self._key = settings.assistant_api_key
        self._first_byte_secs = first_byte_secs
        self._silence_secs = silence_secs
        self._loop = CallLoop("assistant-model")

    def stream(
        self, model: str, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]
    ) -> Iterator[Piece | None]:
        """Yields the chunks of one answer, and None now and then while none comes.

        Closing the iterator ends the call. Raises `ModelFailed`.
        """
        arrived: queue.SimpleQueue[Piece | _End] = queue.SimpleQueue()
        call: Future[None] = self._loop.start(
            self._exchange(self._request(model, messages, tools), arrived)
        )
        try:
            while True:
                try:
                    piece = arrived.get(timeout=_LOOK_SECS)
                except queue.Empty:
                    yield None
                    continue
                if isinstance(piece, _End):
                    if piece.failure is not None:
                        raise piece.failure
                    return
                yield piece
        finally:
            call.cancel()

    def close(self) -> None:
        """Stops the event loop."""
        self._loop.close()

    def _request(
        self, model: str, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]
    ) -> Request:
        body: dict[str, Any] = {
            "model": model,
            "messages": list(messages),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if tools:
            body["tools"] = list(tools)
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        return Request("POST", self._url, headers | bearer(self._key), msgspec.json.encode(body))

    async def _exchange(self, request: Request, arrived: "queue.SimpleQueue[Piece | _End]") -> None:
        failure: ModelFailed | None = None
        try:
            await self._read(request, arrived)
        except ModelFailed as error:
            failure = error
        except TimeoutError:
            failure = ModelFailed("The language model stopped answering. Ask again.")
        except aiohttp.ClientConnectorError:
            failure = ModelRefused("The language model could not be reached.")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # Leaves out the error's text, because addresses and headers must not become visible.
            failure = ModelFailed(
                f"The connection to the language model broke ({type(error).__name__}). Ask again."
            )
        finally:
            arrived.put(_End(failure))

    async def _read(self, request: Request, arrived: "queue.SimpleQueue[Piece | _End]") -> None:
        is_whole = False
        async with asyncio.timeout(self._first_byte_secs) as limit:
            async with answer_to(request) as response:
                if response.status != 200:
                    raise ModelRefused(_refusal(response))
                async for line in self._lines(response, limit):
                    if not line.startswith(b"data:"):
                        continue
                    data = line.removeprefix(b"data:").strip()
                    if data == b"[DONE]":
                        return
                    piece = _piece(data)
                    is_whole = is_whole or piece.is_last
                    arrived.put(piece)
        if not is_whole:
            raise ModelFailed("The language model's answer broke off. Ask again.")

    async def _lines(
        self, response: aiohttp.ClientResponse, limit: asyncio.Timeout
    ) -> AsyncIterator[bytes]:
        """Yields the lines of the answer; each piece of it prolongs the time limit."""
        rest, total = b"", 0
        async for chunk in response.content.iter_any():
            limit.reschedule(asyncio.get_running_loop().time() + self._silence_secs)
            total += len(chunk)
            if total > MAX_MODEL_BYTES or len(rest) > _LONGEST_LINE:
                raise ModelFailed("The language model's answer is too long. Ask for less.")
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                yield line


def _refusal(response: aiohttp.ClientResponse) -> str:
    if response.status == 429:
        after = response.headers.get("Retry-After", "")
        when = f" in {after} s" if after.isdigit() and len(after) < 6 else " in a while"
        return f"The language model is busy (429). Ask again{when}."
    if response.status in (401, 403):
        return f"The language model refused the deployment's key ({response.status})."
    return f"The language model answered with status {response.status}. Ask again."


def _piece(data: bytes) -> Piece:
    try:
        return msgspec.json.decode(data, type=Piece)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise ModelFailed("The language model's answer is not a chat completion.") from None
