"""The frames of a turn: a worker writes them into a Redis stream, and web relays them.

A frame is one JSON object. Its id is the turn and its place in the stream, so a client that was cut
off names the last one that it has, and goes on after it.
"""

import re
import uuid
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import redis

from shared.assistant.limits import MAX_TURN_SECS, MAX_WAIT_SECS, UNWATCHED_SECS
from shared.foundation.core.ids import parse_uuid
from shared.foundation.queue.connection import unavailable_when_redis_is_gone

# A stream outlives its turn, so that a client may read the end again.
_KEPT_SECS = int(MAX_TURN_SECS + MAX_WAIT_SECS) + 300
_FIELD = b"frame"
_LAST = frozenset({"done", "error"})
_ID = re.compile(r"([0-9a-f-]{36}):(\d{1,20}-\d{1,20})")

BEGINNING = "0-0"

_encode = msgspec.json.Encoder().encode


class Frame(NamedTuple):
    """A frame as it was written: its place in the stream, its JSON, and whether it is the last."""

    place: str
    json: bytes
    is_last: bool


class FrameId(NamedTuple):
    """The turn and the place of a frame."""

    turn_id: uuid.UUID
    place: str

    def __str__(self) -> str:
        return f"{self.turn_id}:{self.place}"

    @classmethod
    def parse(cls, text: str) -> "FrameId | None":
        """Reads the id of a frame; returns None for a text of another form."""
        match = _ID.fullmatch(text.strip())
        turn_id = None if match is None else parse_uuid(match[1])
        return None if match is None or turn_id is None else cls(turn_id, match[2])


class Frames:
    """The frames of one turn."""

    def __init__(self, client: redis.Redis, turn_id: uuid.UUID) -> None:
        self._redis = client
        self._stream = f"assistant:frames:{turn_id}"
        self._watched = f"assistant:watched:{turn_id}"

    def write(self, type_: str, **fields: Any) -> None:
        """Adds a frame; raises `Unavailable`."""
        frame = _encode({"type": type_, **fields})
        with unavailable_when_redis_is_gone():
            steps = self._redis.pipeline(transaction=False)
            steps.xadd(self._stream, {_FIELD: frame})
            steps.expire(self._stream, _KEPT_SECS)
            steps.execute()

    def read(self, after: str, wait_ms: int) -> Iterator[Frame]:
        """Yields the frames after a place; waits for the first one. Raises `Unavailable`."""
        with unavailable_when_redis_is_gone():
            found: Any = self._redis.xread({self._stream: after}, count=200, block=wait_ms)
        for _, entries in found or ():
            for place, fields in entries:
                frame = fields[_FIELD]
                yield Frame(place.decode(), frame, _type_of(frame) in _LAST)

    def has_ended(self) -> bool:
        """Returns whether the last frame was written, or there are none any more."""
        with unavailable_when_redis_is_gone():
            newest: Any = self._redis.xrevrange(self._stream, count=1)
        return any(_type_of(fields[_FIELD]) in _LAST for _, fields in newest)

    def watch(self) -> None:
        """Notes that a client reads the frames; the note lasts `UNWATCHED_SECS`."""
        with unavailable_when_redis_is_gone():
            self._redis.set(self._watched, b"1", px=int(UNWATCHED_SECS * 1000))

    def is_watched(self) -> bool:
        """Returns whether a client read the frames a moment ago; raises `Unavailable`."""
        with unavailable_when_redis_is_gone():
            return bool(self._redis.exists(self._watched))


class _FrameType(msgspec.Struct):
    type: str


def _type_of(frame: bytes) -> str:
    return msgspec.json.decode(frame, type=_FrameType).type
