"""Reads the failure of a span, and the exceptions that did not make it fail."""

from typing import Any

from shared.intake.otlp.mapping.tables import ERROR_TYPE, EXCEPTION, EXCEPTION_FIELDS
from shared.intake.otlp.mapping.values import text
from shared.intake.otlp.records import Span, SpanEvent

_ERROR = 2


def is_failed(span: Span) -> bool:
    """Returns whether a span has the status ERROR."""
    return span.status_code == _ERROR


def failure_of(span: Span) -> dict[str, Any]:
    """Returns `error`, `error_type` and `traceback` of a failed span, absent ones left out."""
    fields: dict[str, Any] = {}
    exception = exception_fields(last_exception(span))
    kind = text(span.attributes.get(ERROR_TYPE)) or exception.get("error_type")
    described = ": ".join(
        exception[field] for field in ("error_type", "message") if field in exception
    )
    fields["error"] = span.status_message or described or kind or "error"
    if kind is not None:
        fields["error_type"] = kind
    if "traceback" in exception:
        fields["traceback"] = exception["traceback"]
    return fields


def last_exception(span: Span) -> SpanEvent | None:
    """Returns the last exception among the events of a span."""
    return next((event for event in reversed(span.events) if event.name == EXCEPTION), None)


def exception_fields(event: SpanEvent | None) -> dict[str, str]:
    """Returns what an exception tells, absent fields left out."""
    if event is None:
        return {}
    found = {field: text(event.attributes.get(key)) for field, key in EXCEPTION_FIELDS.items()}
    return {field: value for field, value in found.items() if value is not None}
