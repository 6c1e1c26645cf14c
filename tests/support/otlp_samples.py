"""The recorded requests of OpenTelemetry packages, as records."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from shared.intake.otlp.records import (
    Link,
    LogRecord,
    Records,
    Resource,
    Scope,
    Span,
    SpanEvent,
    digest_of,
)
from tests.support.airline import airline_folder

# Requests with records of traces; metrics are not stored.
SAMPLES = (
    "oi-langchain",
    "oi-openai-tools",
    "otel-anthropic",
    "otel-openai-broken",
    "otel-openai-events",
    "otel-openai-tools",
    "pydantic-ai-logfire-native",
    "pydantic-ai-tool-error",
)


def samples_folder() -> Path:
    """The folder of the samples. If it is missing, its tests skip, and fail in CI."""
    folder = airline_folder().parent / "otlp"
    if not folder.exists():
        reason = f"no samples in {folder}: set WATCHPOST_SHARED"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


def sample(name: str) -> list[Records]:
    """The requests of a sample in the order of sending, received now."""
    files = sorted((samples_folder() / name).glob("*.json"))
    requests = [json.loads(file.read_bytes()) for file in files]
    return [records for request in requests if len(records := _records(request))]


def _records(request: dict[str, Any]) -> Records:
    records = Records(time.time_ns() // 1_000_000, [], [], [], [])
    for signal in ("Span", "Log"):
        for resource in request.get(f"resource{signal}s", []):
            records.resources.append(Resource(_attributes(resource["resource"])))
            for scope in resource[f"scope{signal}s"]:
                of = scope.get("scope", {})
                records.scopes.append(
                    Scope(of.get("name", ""), of.get("version", ""), _attributes(of))
                )
                records.spans += [_span(one, records) for one in scope.get("spans", [])]
                records.logs += [_log(one, records) for one in scope.get("logRecords", [])]
    return records


def _span(one: dict[str, Any], records: Records) -> Span:
    status = one.get("status", {})
    return Span(
        one["traceId"],
        one["spanId"],
        one.get("parentSpanId", ""),
        one["name"],
        one["kind"],
        int(one["startTimeUnixNano"]),
        int(one["endTimeUnixNano"]),
        _attributes(one),
        [
            SpanEvent(event["name"], int(event["timeUnixNano"]), _attributes(event))
            for event in one.get("events", [])
        ],
        [Link(link["traceId"], link["spanId"], _attributes(link)) for link in one.get("links", [])],
        status.get("code", 0),
        status.get("message", ""),
        len(records.resources) - 1,
        len(records.scopes) - 1,
    )


def _log(one: dict[str, Any], records: Records) -> LogRecord:
    return LogRecord(
        one.get("traceId", ""),
        one.get("spanId", ""),
        int(one.get("timeUnixNano") or one["observedTimeUnixNano"]),
        one.get("severityText", ""),
        one.get("eventName", ""),
        _value(one["body"]) if "body" in one else None,
        _attributes(one),
        len(records.resources) - 1,
        len(records.scopes) - 1,
        digest_of(json.dumps(one, sort_keys=True)),
    )


def _attributes(of: dict[str, Any]) -> dict[str, Any]:
    return {one["key"]: _value(one["value"]) for one in of.get("attributes", [])}


def _value(value: dict[str, Any]) -> Any:
    if not value:
        return None
    [(kind, content)] = value.items()
    if kind == "intValue":
        return int(content)
    if kind == "arrayValue":
        return [_value(one) for one in content.get("values", [])]
    if kind == "kvlistValue":
        return {one["key"]: _value(one["value"]) for one in content.get("values", [])}
    return content
