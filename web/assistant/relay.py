"""Passes the frames of a turn on to its client, as server-sent events."""

import time
from collections.abc import Callable, Iterator

from shared.assistant.frames import BEGINNING, FrameId, Frames
from shared.assistant.limits import LEASE_SECS, MAX_TURN_SECS, MAX_WAIT_SECS
from shared.foundation.core.errors import Unavailable, WatchpostError

_WAIT_MS = 1000
# A line that clients ignore: it keeps proxies from closing a silent connection.
_ALIVE = b": alive\n\n"
_ALIVE_SECS = 10.0
# A turn whose worker died gets its last frame from another one, after the lease and a look.
_LONGEST_SECS = MAX_WAIT_SECS + MAX_TURN_SECS + 3 * LEASE_SECS

_LOST = b'{"type":"error","message":"The assistant cannot be reached. Ask again."}'
_REFUSED = b'{"type":"error","message":"You have no access to the assistant any more."}'
_OVER = b'{"type":"error","message":"The answer is not kept any more. Ask again."}'
_UNANSWERED = b'{"type":"error","message":"No worker of the assistant runs. Ask again later."}'


def relay(
    frames: Frames,
    after: FrameId,
    is_gone: Callable[[], bool],
    require_access: Callable[[], None],
) -> Iterator[bytes]:
    """Yields the events after a frame, until the last one or until the client is gone.

    `require_access` raises when the person may not read on; then an error is the last event. While
    it runs the turn counts as watched; soon after it ends, the worker cancels the turn.
    """
    began = spoke = time.monotonic()
    place = after.place
    yield _ALIVE
    while not is_gone():
        try:
            frames.watch()
            found = list(frames.read(place, _WAIT_MS))
            require_access()
        except Unavailable:
            yield _event(after._replace(place=place), _LOST)
            return
        except WatchpostError:
            # Also when the organization is gone, or the person is in a second one meanwhile.
            yield _event(after._replace(place=place), _REFUSED)
            return
        for frame in found:
            place, spoke = frame.place, time.monotonic()
            yield _event(after._replace(place=place), frame.json)
            if frame.is_last:
                return
        waited = time.monotonic() - began
        if place == BEGINNING and waited > MAX_WAIT_SECS + LEASE_SECS:
            yield _event(after, _UNANSWERED)
            return
        if waited > _LONGEST_SECS:
            yield _event(after._replace(place=place), _OVER)
            return
        if time.monotonic() - spoke > _ALIVE_SECS:
            spoke = time.monotonic()
            yield _ALIVE


def _event(name: FrameId, json: bytes) -> bytes:
    # JSON has no line breaks outside of texts, and inside of them they are escaped.
    return b"id: %s\ndata: %s\n\n" % (str(name).encode(), json)
