"""A log record and the decisions about it become events."""

from typing import Any

from shared.intake.otlp.mapping import dimensions, otel
from shared.intake.otlp.mapping.coding_agents import report_events
from shared.intake.otlp.mapping.content_events import (
    MESSAGE_ATTRIBUTES,
    is_details,
    is_message,
    read_message,
    role_in,
)
from shared.intake.otlp.mapping.conversation import (
    add_answer,
    add_request,
    read_field,
    stop_reason,
    tools_of,
)
from shared.intake.otlp.mapping.evaluations import evaluation_event, evaluation_row, is_evaluation
from shared.intake.otlp.mapping.event_types import LOG, MODEL_CONTENT, MODEL_MESSAGE
from shared.intake.otlp.mapping.naming import environment_of
from shared.intake.otlp.mapping.payload import Event, EventEnvelope, Shape, shape
from shared.intake.otlp.mapping.reader import read
from shared.intake.otlp.mapping.spans import Assignment
from shared.intake.otlp.mapping.values import present, text
from shared.intake.otlp.mapping.vendors import event_name, given_name, report_of, vendor_of
from shared.intake.otlp.records import LogRecord, Resource, Scope
from shared.reading.evaluations.records import Evaluation

_Fields = dict[str, Any]
_MODEL_MESSAGE = shape(MODEL_MESSAGE)
_MODEL_CONTENT = shape(MODEL_CONTENT)
_LOG = shape(LOG)


def log_events(
    org_id: str,
    record: LogRecord,
    resource: Resource,
    scope: Scope,
    assignment: Assignment,
    max_event_bytes: int,
) -> list[Event]:
    """Returns the events of a log record, in their order.

    They depend on the arguments only, and their ids only on the organization and the record.
    """
    envelope = _envelope(org_id, record, resource, assignment, max_event_bytes)
    name = event_name(record)
    ts = record.time_ns // 1000
    shared = otel.of_log(record, name, resource, scope)
    whole = shared | {"attributes": record.attributes, "resource": resource.attributes}
    vendor = vendor_of(record)
    envelope.dimensions = dimensions.of_log(record, vendor, resource)
    if is_evaluation(name):
        return [evaluation_event(envelope, "log", ts, _attributes(record), shared, record.span_id)]
    report = None if vendor is None else report_of(record, vendor)
    if vendor is not None and report is not None:
        return report_events(envelope, record, vendor, report, whole)
    kind, fields, rest = _fields(record, name)
    return [envelope.event("log", ts, kind, fields, whole | {"attributes": rest})]


def log_evaluations(
    org_id: str, record: LogRecord, resource: Resource, assignment: Assignment
) -> list[Evaluation]:
    """Returns the row of `evaluations` that a log record tells, if it tells one."""
    if not is_evaluation(event_name(record)):
        return []
    envelope = _envelope(org_id, record, resource, assignment, 0)
    return [evaluation_row(envelope, "log", record.time_ns // 1000, _attributes(record))]


def _envelope(
    org_id: str, record: LogRecord, resource: Resource, assignment: Assignment, limit: int
) -> EventEnvelope:
    digest = f"{record.digest & 0xFFFFFFFFFFFFFFFF:016x}"
    name = event_name(record)
    return EventEnvelope(
        org_id,
        f"{record.trace_id}/{record.span_id}/{record.time_ns}/{digest}/{name}",
        assignment.session_id,
        assignment.agent_id,
        environment_of(record, resource),
        limit,
    )


def _attributes(record: LogRecord) -> dict[str, Any]:
    """Returns the attributes of a record, with the members of its body where it is an object."""
    if isinstance(record.body, dict):
        return {**record.body, **record.attributes}
    return record.attributes


def _fields(record: LogRecord, name: str) -> tuple[Shape, _Fields, dict[str, Any]]:
    """Returns the shape and the values of an event, and the attributes that belong to none."""
    if is_message(name):
        rest = {key: v for key, v in record.attributes.items() if key not in MESSAGE_ATTRIBUTES}
        return _MODEL_MESSAGE, _message_fields(record, name), rest
    if is_details(name):
        return _MODEL_CONTENT, *_content_fields(record)
    fields = {
        "severity": record.severity or None,
        "body": present(record.body),
        "name": given_name(record),
    }
    return _LOG, fields, record.attributes


def _message_fields(record: LogRecord, name: str) -> _Fields:
    reading = read_message(name, _attributes(record))
    message = reading.messages[-1] if reading.messages else {"role": role_in(name)}
    return {
        **message,
        "stop_reason": reading.stop_reason,
        "request_id": record.span_id or None,
    }


def _content_fields(record: LogRecord) -> tuple[_Fields, dict[str, Any]]:
    """Returns the content of a call of a model, without its tokens."""
    found = read("content", _attributes(record))
    fields: _Fields = {
        "model": found.first("response_model", text) or found.first("request_model", text),
        "tools": tools_of(found),
        "request_id": record.span_id or None,
    }
    add_request(fields, found)
    answer = read_field(found, "output_messages", "assistant")
    add_answer(fields, answer)
    fields["stop_reason"] = stop_reason(found, answer)
    return fields, found.rest
