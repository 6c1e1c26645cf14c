"""A span and the decisions about it become events."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from shared.intake.otlp.mapping import dimensions, otel
from shared.intake.otlp.mapping.content_events import add_content
from shared.intake.otlp.mapping.conversation import agent_values, model_values
from shared.intake.otlp.mapping.evaluations import evaluation_event, evaluation_row, is_evaluation
from shared.intake.otlp.mapping.event_types import ERROR, EVENTS
from shared.intake.otlp.mapping.failures import exception_fields, failure_of, is_failed
from shared.intake.otlp.mapping.kinds import word_of
from shared.intake.otlp.mapping.naming import environment_of, tool_name
from shared.intake.otlp.mapping.payload import MAX_MS, Event, EventEnvelope, Shape, shape
from shared.intake.otlp.mapping.reader import AttributeLookup, read
from shared.intake.otlp.mapping.serialized import call_id_in, result_of
from shared.intake.otlp.mapping.tables import EXCEPTION, Role
from shared.intake.otlp.mapping.values import text
from shared.intake.otlp.records import Resource, Scope, Span, SpanEvent
from shared.reading.evaluations.records import Evaluation

_Values = dict[str, Any]
_WITH_CONTENT = frozenset[Role]({"agent", "model"})


class Assignment(msgspec.Struct, gc=False):
    """The decisions about a record.

    `session_id` and `agent_id`: where its events belong. `parent_agent`: the next other agent
    above, for an agent span. `role`: how a span is stored. `pending`: the span has not ended.
    """

    session_id: str
    agent_id: str
    parent_agent: str | None = None
    role: Role = "span"
    pending: bool = False


def span_events(
    org_id: str,
    span: Span,
    resource: Resource,
    scope: Scope,
    assignment: Assignment,
    max_event_bytes: int,
) -> list[Event]:
    """Returns the events of a span: that at its start, those between, that at its end.

    Of a pending span it is the first only.

    They depend on the arguments only, and their ids only on the organization, the trace, the span
    and the slot of an event among those of the span.
    """
    role = assignment.role
    found = read(role, span.attributes)
    has_content = role in _WITH_CONTENT
    if span.events and has_content:
        add_content(found, role, span.events)
    values = _VALUES[role](span, found)
    values["parent_id"], values["tool_kind"] = assignment.parent_agent, role
    envelope = _envelope(org_id, span, resource, assignment, max_event_bytes)
    envelope.dimensions = dimensions.of_span(span, found.dimensions, resource)
    shared = otel.of_span(span, resource, scope)
    start, last = _EVENTS[role]
    start_us, end_us = span.start_ns // 1000, _end_ns(span) // 1000
    if start is not None:
        first = envelope.event("start", start_us, start, values, shared)
        if assignment.pending:
            return [first]
    if not assignment.pending:
        if is_failed(span):
            values |= failure_of(span)
        values["duration_ms"] = min(max(span.end_ns - span.start_ns, 0) // 1_000_000, MAX_MS)
    whole = shared | otel.rest_of_span(span, resource, found.rest, has_content=has_content)
    if start is None:
        first = envelope.event("start", start_us, last, values, whole)
        return [first] if assignment.pending else [first, *_between(envelope, span, shared)]
    between = _between(envelope, span, shared) if span.events else ()
    return [first, *between, envelope.event("end", end_us, last, values, whole)]


def span_evaluations(
    org_id: str, span: Span, resource: Resource, assignment: Assignment
) -> list[Evaluation]:
    """Returns the rows of `evaluations` that the events of a span tell."""
    envelope = _envelope(org_id, span, resource, assignment, 0)
    return [
        evaluation_row(envelope, f"event/{number}", _event_us(event, span), event.attributes)
        for number, event in enumerate(span.events)
        if is_evaluation(event.name)
    ]


def _envelope(
    org_id: str, span: Span, resource: Resource, assignment: Assignment, limit: int
) -> EventEnvelope:
    return EventEnvelope(
        org_id,
        f"{span.trace_id}/{span.span_id}",
        assignment.session_id,
        assignment.agent_id,
        environment_of(span, resource),
        limit,
        assignment.pending,
    )


def _between(envelope: EventEnvelope, span: Span, shared: dict[str, Any]) -> Iterator[Event]:
    """Yields the events that the events of a span become."""
    for number, event in enumerate(span.events):
        slot, ts = f"event/{number}", _event_us(event, span)
        if is_evaluation(event.name):
            yield evaluation_event(envelope, slot, ts, event.attributes, shared, span.span_id)
        elif event.name == EXCEPTION and not is_failed(span):
            yield envelope.event(slot, ts, _ERROR, exception_fields(event), shared)


def _event_us(event: SpanEvent, span: Span) -> int:
    return (event.time_ns or _end_ns(span)) // 1000


def _end_ns(span: Span) -> int:
    return max(span.start_ns, span.end_ns)


def _agent(span: Span, found: AttributeLookup) -> _Values:
    values = agent_values(found)
    values["outcome"] = _outcome(span)
    return values


def _model(span: Span, found: AttributeLookup) -> _Values:
    values = model_values(found)
    values["request_id"] = span.span_id
    return values


def _tool(span: Span, found: AttributeLookup) -> _Values:
    return {
        "tool_name": tool_name(span),
        "tool_call_id": found.first("tool_call_id", text)
        or found.first("output", call_id_in)
        or span.span_id,
        "input": found.first("input", result_of),
        "output": found.first("output", result_of),
    }


def _guardrail(span: Span, found: AttributeLookup) -> _Values:
    return {
        "hook_name": span.name,
        "hook_id": span.span_id,
        "trigger_event": "guardrail",
        "input": found.first("input", result_of),
        "outcome": _outcome(span),
        "output": found.first("output", result_of),
    }


def _other(span: Span, found: AttributeLookup) -> _Values:
    return {
        "name": span.name,
        "span_kind": word_of(span) or otel.kind_name(span),
        "input": found.first("input", result_of),
        "output": found.first("output", result_of),
    }


def _outcome(span: Span) -> str:
    return "failed" if is_failed(span) else "success"


_VALUES: dict[Role, Callable[[Span, AttributeLookup], _Values]] = {
    "agent": _agent,
    "model": _model,
    "tool": _tool,
    "retrieval": _tool,
    "guardrail": _guardrail,
    "span": _other,
}


_EVENTS: dict[Role, tuple[Shape | None, Shape]] = {
    role: (None if start is None else shape(start), shape(last))
    for role, (start, last) in EVENTS.items()
}
_ERROR = shape(ERROR)
