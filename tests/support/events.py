"""Puts events straight into ClickHouse, past the ingest path, and sorts them the slow way."""

import hashlib
import itertools
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.clock import to_us

# An arrival is the millisecond of a batch and, in its lower 21 bits, the position in that batch.
_BATCH = 1 << 21
_batches = itertools.count(1)


@dataclass(frozen=True)
class Stored:
    """An event as it was stored. All fields but `arrival` are read from `line`, the payload."""

    line: bytes
    arrival: int
    event_id: int
    session_id: str
    agent_id: str
    event_type: str
    environment: str
    ts: int
    is_error: bool
    input_tokens: int | None
    output_tokens: int | None
    outcome: str | None
    user_id: str | None
    agent_version: str | None
    tags: list[str]
    attributes: dict[str, str]
    cache_read_tokens: int | None
    cost_usd: str | None
    reported_usd: str | None
    cost_source: str | None


def _stored(line: bytes, arrival: int) -> Stored:
    """Returns the values to store for a line. Different lines have different ids."""
    fields = json.loads(line)
    digest = hashlib.blake2b(line, digest_size=8).digest()
    return Stored(
        line=line,
        arrival=arrival,
        event_id=int.from_bytes(digest, "big") >> 11,
        session_id=fields["session_id"],
        agent_id=fields.get("agent_id", "main"),
        event_type=fields["type"],
        environment=fields.get("environment", "default"),
        ts=to_us(datetime.fromisoformat(fields["timestamp"])),
        is_error=bool(fields.get("error")) or fields["type"] == "error",
        input_tokens=fields.get("input_tokens"),
        output_tokens=fields.get("output_tokens"),
        outcome=fields.get("outcome"),
        user_id=fields.get("user_id"),
        agent_version=fields.get("agent_version"),
        tags=fields.get("tags", []),
        attributes=fields.get("attributes", {}),
        cache_read_tokens=fields.get("cache_read_tokens"),
        **{name: fields.get(name) for name in ("cost_usd", "reported_usd", "cost_source")},
    )


def event(session_id: str, ts: str, event_type: str = "tool_use", **fields: object) -> bytes:
    """Returns a line of JSON. `ts` is a time of 2026-11-02, such as `10:00:01.5`."""
    moment = f"2026-11-02T{ts}Z"
    return json.dumps(
        {"timestamp": moment, "session_id": session_id, "type": event_type, **fields}
    ).encode()


def store_events(clickhouse: ClickHouse, org_id: str, lines: Iterable[bytes]) -> list[Stored]:
    """Stores `lines` as one batch that arrives a millisecond after the batch before it."""
    first = next(_batches) * _BATCH
    events = [_stored(line, first + place) for place, line in enumerate(lines)]
    clickhouse.insert(
        "events",
        {
            "org_id": [org_id] * len(events),
            "id": [item.event_id for item in events],
            "session_id": [item.session_id for item in events],
            "agent_id": [item.agent_id for item in events],
            "event_type": [item.event_type for item in events],
            "environment": [item.environment for item in events],
            "ts": [item.ts for item in events],
            "arrival": [item.arrival for item in events],
            "payload": [item.line for item in events],
            "summary": [""] * len(events),
            "is_error": [item.is_error for item in events],
            "input_tokens": [item.input_tokens for item in events],
            "output_tokens": [item.output_tokens for item in events],
            "outcome": [item.outcome for item in events],
            **_if_any(events, "user_id"),
            **_if_any(events, "agent_version"),
            **_if_any(events, "tags"),
            **_if_any(events, "attributes"),
            **_if_any(events, "cache_read_tokens"),
            **_if_any(events, "cost_source"),
            **_amounts(events),
        },
    )
    return events


def _if_any(events: Sequence[Stored], name: str) -> dict[str, list[object]]:
    """Returns a column unless all events lack it: older schemas do not know it."""
    values = [getattr(item, name) for item in events]
    return {name: values} if any(values) else {}


def _amounts(events: Sequence[Stored]) -> dict[str, list[object]]:
    """Returns the amounts, if any, in units of 1e-12 dollars."""
    found = {
        name: [getattr(item, name) for item in events] for name in ("cost_usd", "reported_usd")
    }
    return {
        name: [None if one is None else int(Decimal(one).scaleb(12)) for one in values]
        for name, values in found.items()
        if any(values)
    }


def by_session(stored: Iterable[Stored]) -> dict[str, list[Stored]]:
    """Returns the events of each session in order. Of repeated events, the first copy counts."""
    first: dict[tuple[str, int, int], Stored] = {}
    for item in sorted(stored, key=lambda item: item.arrival):
        first.setdefault((item.session_id, item.ts, item.event_id), item)
    sessions: dict[str, list[Stored]] = {}
    for item in sorted(first.values(), key=lambda item: (item.ts, item.arrival)):
        sessions.setdefault(item.session_id, []).append(item)
    return sessions
