"""Runs asynchronous calls for threads.

Only on an event loop can a deadline end a call wherever it stands: while it resolves a name, while
it connects, between two bytes of an answer.
"""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import TypeVar

_Result = TypeVar("_Result")


class CallLoop:
    """An event loop in a thread of its own; thread-safe."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def start(self, call: Coroutine[object, object, _Result]) -> Future[_Result]:
        """Runs `call` on the loop."""
        return asyncio.run_coroutine_threadsafe(call, self._loop)

    def close(self) -> None:
        """Ends the loop once it has let go of the last call's connection."""
        self.start(asyncio.sleep(0.01)).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
