"""Runs asynchronous calls for threads.

Only an event loop can end a call at its deadline in any state: while it resolves a name, while it
connects, or between two bytes of an answer.
"""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import TypeVar

_Result = TypeVar("_Result")

# The loop ends a call shortly after its deadline; the caller waits no longer than this for it.
_SLACK_SECS = 3.0


class CallLoop:
    """An event loop in its own thread; thread-safe."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def start(self, call: Coroutine[object, object, _Result]) -> Future[_Result]:
        """Runs `call` on the loop."""
        return asyncio.run_coroutine_threadsafe(call, self._loop)

    def within(self, secs: float, call: Coroutine[object, object, _Result]) -> _Result:
        """Waits for the result of `call`; raises `TimeoutError` if there is none in time."""
        future = self.start(_ended_after(secs, call))
        try:
            return future.result(secs + _SLACK_SECS)
        finally:
            future.cancel()

    def close(self) -> None:
        """Stops the loop once it has released the last call's connection."""
        self.start(asyncio.sleep(0.01)).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _ended_after(secs: float, call: Coroutine[object, object, _Result]) -> _Result:
    async with asyncio.timeout(secs):
        return await call
