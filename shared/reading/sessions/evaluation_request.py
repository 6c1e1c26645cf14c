"""The EvalRequest of a session: the body for an evaluator, and the JSON form of the export."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import msgspec
from clickhouse_driver.errors import ServerException

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.client import OverMemory
from shared.foundation.core.clock import format_us
from shared.foundation.core.errors import QueryTimeout
from shared.reading.sessions import facts as session_facts
from shared.reading.sessions.event_stream import Place, event_objects, events_of_many
from shared.reading.sessions.facts import SessionFacts, SessionKey

SCHEMA_VERSION = "1"

# Sessions that are read together have at most this many bytes in all. Otherwise they are read in
# two halves, so that a large session delays the others no longer than it takes to read this much.
MAX_GROUP_BYTES = 16 * 1024 * 1024

# A longer session is read by itself. Together with others, every granule of its time would be
# searched for all of them, and the filter on sessions lets one granule in a hundred pass for each.
MAX_GROUP_US = 3600 * 1_000_000


# Errors that one session may cause by itself, and that must not keep the others waiting.
_OF_ITS_OWN = (OverMemory, QueryTimeout, ServerException)


class EvaluationRequestTooLarge(Exception):
    """The request of this session is larger than an evaluator accepts."""


# The highest arrival of an event that counts, by session. One that is missing has no bound.
Revisions = Mapping[SessionKey, int]
ALL: Revisions = MappingProxyType({})

# A body; None for a session without events; or the reason why there is no body. Any error but
# `EvaluationRequestTooLarge` may end by itself.
Built = bytes | None | Exception


def build(
    clickhouse: ClickHouse, org_id: str, session_id: str, *, max_bytes: int | None = None
) -> bytes | None:
    """Builds the EvalRequest of a session as JSON, None for a session without events.

    Reads no further than `max_bytes`; raises `EvaluationRequestTooLarge` if it is longer.
    """
    facts = session_facts.find(clickhouse, org_id, session_id)
    return None if facts is None else _build(clickhouse, org_id, facts, max_bytes)


def build_many(
    clickhouse: ClickHouse,
    keys: Sequence[SessionKey],
    *,
    max_bytes: int,
    until: Revisions = ALL,
) -> Iterator[dict[SessionKey, Built]]:
    """Builds the EvalRequests of many sessions; yields some at a time, small sessions first.

    A session has no event that arrived after its revision in `until`.

    Reads with one query for the facts, and one for the events unless they are large. Raises
    `Unavailable` if ClickHouse is down.
    """
    found = session_facts.of_keys(clickhouse, keys)
    missing = [key for key in keys if key not in found]
    if missing:
        yield dict.fromkeys(missing)
    alone: dict[SessionKey, SessionFacts] = {}
    together: dict[SessionKey, SessionFacts] = {}
    for key, facts in found.items():
        is_long = facts.last_event_at - facts.started_at > MAX_GROUP_US
        (alone if is_long else together)[key] = facts
    yield from _parts(clickhouse, together, max_bytes, until)
    for key, facts in alone.items():
        yield from _parts(clickhouse, {key: facts}, max_bytes, until)


def stream(
    clickhouse: ClickHouse, org_id: str, facts: SessionFacts, revision: int | None = None
) -> Iterator[bytes]:
    """Yields the EvalRequest in pieces, one event each, so that no session has to fit in memory.

    It has no event that arrived after `revision`.
    """
    yield _head(facts)
    separator = b""
    for event in event_objects(clickhouse, org_id, facts, revision):
        yield separator + event
        separator = b","
    yield b"]}"


def _build(
    clickhouse: ClickHouse,
    org_id: str,
    facts: SessionFacts,
    max_bytes: int | None,
    revision: int | None = None,
) -> bytes:
    body = bytearray()
    for piece in stream(clickhouse, org_id, facts, revision):
        body += piece
        if max_bytes is not None and len(body) > max_bytes:
            raise EvaluationRequestTooLarge(
                f"the evaluation request is larger than {max_bytes} bytes"
            )
    return bytes(body)


def _parts(
    clickhouse: ClickHouse,
    sessions: Mapping[SessionKey, SessionFacts],
    max_bytes: int,
    until: Revisions,
) -> Iterator[dict[SessionKey, Built]]:
    """Reads the sessions together, or each half by itself until they are small enough."""
    if len(sessions) == 1:
        [(key, facts)] = sessions.items()
        try:
            yield {key: _build(clickhouse, key.org_id, facts, max_bytes, until.get(key))}
        except (EvaluationRequestTooLarge, *_OF_ITS_OWN) as error:
            yield {key: error}
    elif sessions:
        events = _read_together(clickhouse, sessions, min(MAX_GROUP_BYTES, max_bytes), until)
        if events is not None:
            yield {key: _body(facts, events[key]) for key, facts in sessions.items()}
            return
        keys = list(sessions)
        for half in (keys[: len(keys) // 2], keys[len(keys) // 2 :]):
            part = {key: sessions[key] for key in half}
            yield from _parts(clickhouse, part, max_bytes, until)


def _read_together(
    clickhouse: ClickHouse,
    sessions: Mapping[SessionKey, SessionFacts],
    max_bytes: int,
    until: Revisions,
) -> Mapping[SessionKey, list[tuple[Place, bytes]]] | None:
    """Returns the events of each session, None if they are too much for one query."""
    events: dict[SessionKey, list[tuple[Place, bytes]]] = defaultdict(list)
    left = max_bytes - 1024 * len(sessions)  # room for the heads
    try:
        for key, place, event in events_of_many(clickhouse, sessions, until):
            events[key].append((place, event))
            left -= len(event) + 1
            if left < 0:
                return None
    except _OF_ITS_OWN:
        return None
    return events


def _body(facts: SessionFacts, events: list[tuple[Place, bytes]]) -> bytes:
    return b"".join((_head(facts), b",".join(event for _, event in sorted(events)), b"]}"))


def _head(facts: SessionFacts) -> bytes:
    head = msgspec.json.encode(
        {
            "schema_version": SCHEMA_VERSION,
            "session_id": facts.session_id,
            "agent_id": facts.agent_id,
            "environment": facts.environment,
            "started_at": format_us(facts.started_at),
            "ended_at": None if facts.ended_at is None else format_us(facts.ended_at),
        }
    )
    return head[:-1] + b',"events":['
