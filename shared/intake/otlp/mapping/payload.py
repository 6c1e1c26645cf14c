"""Events as they are stored: their ids, their times and the bytes of their payloads."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import msgspec
import xxhash

from shared.intake.otlp.mapping.dimensions import Dimensions
from shared.intake.otlp.mapping.event_types import EventRow
from shared.intake.otlp.mapping.size import encode, fitted

# A type of event, and its fields with the names of their values.
Shape = tuple[str, tuple[tuple[str, str], ...]]

SOURCE = "otlp"
MAX_MS = 2**32 - 1


class Event(msgspec.Struct, gc=False):
    """An event as a column of `Batch` needs it: 53 bits of id, microseconds since the epoch.

    `pending` means that the span has not ended: an event with the same id that is not pending
    stands for this one, whichever comes first.
    """

    id: int
    ts: int
    session_id: str
    agent_id: str
    event_type: str
    environment: str
    payload: bytes
    pending: bool = False


class EventEnvelope(msgspec.Struct, gc=False):
    """The part that the events of one record share.

    `identity` names the record within its organization; the id of an event is made from it.
    `dimensions` are fields of each event.
    """

    org_id: str
    identity: str
    session_id: str
    agent_id: str
    environment: str
    max_event_bytes: int
    pending: bool = False
    dimensions: Dimensions | None = None

    def event(
        self, slot: str, ts: int, shape: Shape, values: dict[str, Any], otel: dict[str, Any]
    ) -> Event:
        """Makes an event; `slot` tells it from the other events of its record.

        Fields whose value is None are left out. The payload has sorted keys and at most
        `max_event_bytes`.
        """
        event_type, fields = shape
        session_id, agent_id, environment = self.session_id, self.agent_id, self.environment
        payload: dict[str, Any] = {
            "session_id": session_id,
            "timestamp": rfc3339(ts),
            "type": event_type,
            "agent_id": agent_id,
            "environment": environment,
            "source": SOURCE,
            "otel": otel,
        }
        for field, name in fields:
            if name in values and (value := values[name]) is not None:
                payload[field] = value
        if self.dimensions:
            payload |= self.dimensions
        encoded = encode(payload)
        if len(encoded) > self.max_event_bytes:
            encoded = fitted(payload, self.max_event_bytes)
        unique = f"{self.identity}/{slot}".encode()
        identifier = xxhash.xxh3_64_intdigest(unique, _seed(self.org_id)) >> 11
        return Event(
            identifier, ts, session_id, agent_id, event_type, environment, encoded, self.pending
        )


def shape(row: EventRow) -> Shape:
    """Compiles a row of the tables; `field=value` takes a value of another name."""
    pairs = (field.partition("=") for field in row[1])
    return row[0], tuple((field, name or field) for field, _, name in pairs)


def rfc3339(ts: int) -> str:
    """Returns microseconds since the epoch as an RFC 3339 time in UTC."""
    seconds, microseconds = divmod(ts, 1_000_000)
    return f"{_second(seconds)}.{microseconds:06d}Z"


@lru_cache(maxsize=4096)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


@lru_cache(maxsize=1024)
def _seed(org_id: str) -> int:
    return xxhash.xxh3_64_intdigest(org_id.encode())
