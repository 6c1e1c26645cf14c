"""The EvalRequest of a session: the body for an evaluator, and the JSON form of the export."""

from collections.abc import Iterator

import msgspec

from shared.clickhouse import ClickHouse
from shared.core.clock import format_us
from shared.sessions import facts as session_facts
from shared.sessions.event_stream import event_objects
from shared.sessions.facts import SessionFacts

SCHEMA_VERSION = "1"


class EvaluationRequestTooLarge(Exception):
    """The request of this session is larger than an evaluator accepts."""


def build(
    clickhouse: ClickHouse, org_id: str, session_id: str, *, max_bytes: int | None = None
) -> bytes | None:
    """Builds the EvalRequest of a session as JSON, None for a session without events.

    Reads no further than `max_bytes`; raises `EvaluationRequestTooLarge` if it is longer.
    """
    facts = session_facts.find(clickhouse, org_id, session_id)
    if facts is None:
        return None
    body = bytearray()
    for piece in stream(clickhouse, org_id, facts):
        body += piece
        if max_bytes is not None and len(body) > max_bytes:
            raise EvaluationRequestTooLarge(
                f"the evaluation request is larger than {max_bytes} bytes"
            )
    return bytes(body)


def stream(clickhouse: ClickHouse, org_id: str, facts: SessionFacts) -> Iterator[bytes]:
    """Yields the EvalRequest in pieces, one event each, so that no session has to fit in memory."""
    yield _head(facts)
    separator = b""
    for event in event_objects(clickhouse, org_id, facts):
        yield separator + event
        separator = b","
    yield b"]}"


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
