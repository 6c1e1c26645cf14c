"""The member `otel` of events: where an event comes from, and what no field has."""

from typing import Any

from shared.intake.otlp.mapping.content_events import is_content
from shared.intake.otlp.mapping.evaluations import is_evaluation
from shared.intake.otlp.mapping.failures import is_failed, last_exception
from shared.intake.otlp.mapping.naming import service_of
from shared.intake.otlp.mapping.payload import rfc3339
from shared.intake.otlp.mapping.tables import (
    ERROR_TYPE,
    EVALUATION_FIELDS,
    EXCEPTION,
    EXCEPTION_FIELDS,
)
from shared.intake.otlp.records import LogRecord, Resource, Scope, Span, SpanEvent

CLOCK = "end_before_start"
_SPAN_KINDS = ("unspecified", "internal", "server", "client", "producer", "consumer")
_STATUSES = ({"code": "unset"}, {"code": "ok"}, {"code": "error"})
_TOLD_BY_EXCEPTION = frozenset(EXCEPTION_FIELDS.values())
_TOLD_BY_EVALUATION = frozenset({*EVALUATION_FIELDS.values(), ERROR_TYPE})


def of_span(span: Span, resource: Resource, scope: Scope) -> dict[str, Any]:
    """Returns what every event of a span has."""
    otel = {
        "trace_id": span.trace_id,
        "span_id": span.span_id,
        "parent_span_id": span.parent_id or None,
        "name": span.name,
        "kind": kind_name(span),
        "service": service_of(resource),
        "scope": scope.name or None,
    }
    if span.end_ns < span.start_ns:
        otel["clock"] = CLOCK
    return otel


def of_log(record: LogRecord, name: str, resource: Resource, scope: Scope) -> dict[str, Any]:
    """Returns what every event of a log record has."""
    return {
        "trace_id": record.trace_id or None,
        "span_id": record.span_id or None,
        "parent_span_id": None,
        "name": name,
        "kind": "log",
        "service": service_of(resource),
        "scope": scope.name or None,
    }


def rest_of_span(
    span: Span, resource: Resource, attributes: dict[str, Any], *, has_content: bool
) -> dict[str, Any]:
    """Returns what only the last event of a span has.

    `attributes` are those that belong to no field. `has_content`: content events of the span have
    become fields.
    """
    if is_failed(span):
        attributes.pop(ERROR_TYPE, None)
    return {
        "attributes": attributes,
        "resource": resource.attributes,
        "status": _status(span),
        "events": _events(span, has_content=has_content) if span.events else [],
        "links": [
            {"trace_id": link.trace_id, "span_id": link.span_id, "attributes": link.attributes}
            for link in span.links
        ],
    }


def kind_name(span: Span) -> str:
    """Returns OTLP's name for a span's kind."""
    known = 0 <= span.kind < len(_SPAN_KINDS)
    return _SPAN_KINDS[span.kind] if known else str(span.kind)


def _status(span: Span) -> dict[str, str]:
    known = 0 <= span.status_code < len(_STATUSES)
    status = _STATUSES[span.status_code] if known else {"code": str(span.status_code)}
    return {**status, "message": span.status_message} if span.status_message else status


def _events(span: Span, *, has_content: bool) -> list[dict[str, Any]]:
    last = last_exception(span) if is_failed(span) else None
    return [
        {
            "name": event.name,
            "timestamp": rfc3339(event.time_ns // 1000),
            "attributes": _without_fields(event, span, last, has_content=has_content),
        }
        for event in span.events
    ]


def _without_fields(
    event: SpanEvent, span: Span, last: SpanEvent | None, *, has_content: bool
) -> dict[str, Any]:
    """Returns the attributes of an event of a span that have become no field."""
    if is_content(event.name):
        return {} if has_content else event.attributes
    if is_evaluation(event.name):
        told = _TOLD_BY_EVALUATION
    elif event.name == EXCEPTION and (event is last or not is_failed(span)):
        told = _TOLD_BY_EXCEPTION
    else:
        return event.attributes
    return {key: value for key, value in event.attributes.items() if key not in told}
