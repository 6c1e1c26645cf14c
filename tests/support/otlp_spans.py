"""Spans and log records for tests of the mapping, and the events that they become."""

from typing import Any

import msgspec

from shared.intake.otlp.mapping import (
    Assignment,
    Event,
    Role,
    environment_of,
    kind_of,
    log_events,
    own_agent,
    service_agent,
    span_events,
)
from shared.intake.otlp.records import LogRecord, Resource, Scope, Span, SpanEvent

ORG = "0b1c0000-0000-4000-8000-000000000001"
TRACE_ID = "0a" * 16
SPAN_ID = "0b" * 8
PARENT_ID = "0c" * 8
START_NS = 1_795_336_000_000_000_999
END_NS = START_NS + 1_500_999_999
LIMIT = 1024 * 1024
RESOURCE = Resource({"service.name": "shop"})
SCOPE = Scope("an.instrumentation", "1.2", {})

# A conversation in the shape of all senders.
CALL = {"id": "c1", "name": "search", "arguments": {"q": "x"}}
ASKS = [{"role": "user", "content": "Hi"}]
CALLS = [{"role": "assistant", "tool_calls": [CALL]}]
RESULT = [{"role": "tool", "content": "18", "tool_call_id": "c1"}]
SAYS = [{"role": "assistant", "content": "Hello"}]
FUNCTION = {"name": "search", "arguments": '{"q": "x"}'}


def span(attributes: dict[str, Any] | None = None, **changes: Any) -> Span:
    """A span of a second and a half below another one."""
    made = Span(
        trace_id=TRACE_ID,
        span_id=SPAN_ID,
        parent_id=PARENT_ID,
        name="a span",
        kind=3,
        start_ns=START_NS,
        end_ns=END_NS,
        attributes=attributes or {},
        events=[],
        links=[],
        status_code=0,
        status_message="",
        resource=0,
        scope=0,
    )
    return msgspec.structs.replace(made, **changes)


def span_event(name: str, time_ns: int = START_NS + 1_000_000, **attributes: Any) -> SpanEvent:
    """An event of a span; `__` in names of attributes stands for a dot."""
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    return SpanEvent(name, time_ns, named)


def log(attributes: dict[str, Any] | None = None, **changes: Any) -> LogRecord:
    """A log record of the span."""
    made = LogRecord(
        TRACE_ID, SPAN_ID, START_NS, "INFO", "", None, attributes or {}, 0, 0, 2**64 - 1
    )
    return msgspec.structs.replace(made, **changes)


def assignment_of(of: Span, role: Role | None = None, resource: Resource = RESOURCE) -> Assignment:
    """The decisions about a span that is alone, of the role that its kind means."""
    kind = kind_of(of)
    agent = own_agent(of, kind) or service_agent(resource)
    return Assignment("a session", agent, None, role or ("span" if kind == "other" else kind))


def events_of(
    of: Span, role: Role | None = None, resource: Resource = RESOURCE, limit: int = LIMIT
) -> list[Event]:
    """The events of a span that is alone."""
    return span_events(ORG, of, resource, SCOPE, assignment_of(of, role, resource), limit)


def payloads_of(of: Span, role: Role | None = None) -> list[dict[str, Any]]:
    """The payloads of the events of a span that is alone."""
    return [msgspec.json.decode(event.payload) for event in events_of(of, role)]


def log_payloads(of: LogRecord, agent: str = "an agent") -> list[dict[str, Any]]:
    """The payloads of the events of a log record."""
    events = log_events(ORG, of, RESOURCE, SCOPE, Assignment("a session", agent), LIMIT)
    assert all(event.environment == environment_of(of, RESOURCE) for event in events)
    return [msgspec.json.decode(event.payload) for event in events]
