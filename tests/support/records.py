"""Spans and log records as Redis stores them."""

import time

from shared.intake.otlp.records import LogRecord, Records, Resource, Scope, Span, digest_of

NOW_NS = time.time_ns()


def make_span(trace: int = 1, span: int = 1, **changes: object) -> Span:
    """Returns a finished span of a model's call, without a parent."""
    values: dict[str, object] = {
        "trace_id": f"{trace:032x}",
        "span_id": f"{span:016x}",
        "parent_id": "",
        "name": "chat",
        "kind": 3,
        "start_ns": NOW_NS,
        "end_ns": NOW_NS + 1_000_000,
        "attributes": {"gen_ai.operation.name": "chat"},
        "events": [],
        "links": [],
        "status_code": 0,
        "status_message": "",
        "resource": 0,
        "scope": 0,
    }
    return Span(**(values | changes))  # type: ignore[arg-type] # the fields above


def make_log(body: object = "hello", **changes: object) -> LogRecord:
    """Returns a log record of no trace."""
    values: dict[str, object] = {
        "trace_id": "",
        "span_id": "",
        "time_ns": NOW_NS,
        "severity": "INFO",
        "event_name": "",
        "body": body,
        "attributes": {},
        "resource": 0,
        "scope": 0,
        "digest": digest_of(body),  # type: ignore[arg-type] # of any value
    }
    return LogRecord(**(values | changes))  # type: ignore[arg-type] # the fields above


def make_records(
    spans: list[Span] | None = None, logs: list[LogRecord] | None = None, services: int = 1
) -> Records:
    """Returns records of `services` resources, `service-0` and on, and one scope."""
    resources = [Resource({"service.name": f"service-{n}"}) for n in range(services)]
    scopes = [Scope("tests", "1", {})]
    return Records(NOW_NS // 1_000_000, resources, scopes, spans or [], logs or [])
