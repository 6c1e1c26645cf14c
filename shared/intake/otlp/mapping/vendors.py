"""Log records of coding agents, as data: one row for each agent and each event that it reports."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from shared.intake.otlp.mapping.event_types import EventRow
from shared.intake.otlp.mapping.values import text
from shared.intake.otlp.records import LogRecord

Report = Literal["prompt", "response", "failed_call", "decision", "tool"]

# The events that a report becomes. Of two, the first stands where `duration_ms` began.
REPORTS: dict[Report, tuple[EventRow, ...]] = {
    "prompt": (("human_input", ("response",)),),
    "response": (
        (
            "model_response",
            (
                *("model", "input_tokens", "output_tokens", "cache_read_tokens"),
                *("cache_write_tokens", "reasoning_tokens", "service_tier", "duration_ms"),
                *("cost_usd", "request_id"),
            ),
        ),
    ),
    "failed_call": (("error", ("error_type", "message", "model")),),
    "decision": (
        ("hook_completed", ("hook_name", "hook_id=tool_call_id", "tool_name", "outcome")),
    ),
    "tool": (
        ("tool_use", ("tool_name", "tool_call_id", "tool_kind", "input")),
        ("tool_result", ("tool_name", "tool_call_id", "output", "duration_ms", "error")),
    ),
}

_EVENT_NAME = "event.name"
_EVENT_KIND = "event.kind"
# Rust's `tracing` names an event after the line that sends it, and Codex exports this name.
_LINE_OF_CODE = re.compile(r"event \S+:\d+")


@dataclass(frozen=True)
class Vendor:
    """A coding agent and its log records.

    `reports` has what a record reports, by its event name without `prefix`; a name may be followed
    by the record's `event.kind`. `fields` has the sources of fields, in the notation of the tables;
    `a + b` is a sum. `repeated` are fields whose sources stay among the attributes of `otel`.
    `dimensions` has the sources of dimensions that this agent names in its own way.
    """

    agent: str
    prefix: str
    reports: Mapping[str, Report]
    fields: Mapping[str, tuple[str, ...]]
    repeated: frozenset[str] = frozenset()
    dimensions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


_COMMON_FIELDS = {
    "response": ("prompt",),
    "model": ("model",),
    "duration_ms": ("duration_ms",),
    "cost_usd": ("cost_usd",),
    "request_id": ("request_id",),
    "tool_name": ("tool_name",),
}
VENDORS = (
    Vendor(
        agent="claude-code",
        prefix="claude_code.",
        reports={
            "user_prompt": "prompt",
            "api_request": "response",
            "api_error": "failed_call",
            "tool_decision": "decision",
            "tool_result": "tool",
        },
        fields={
            **_COMMON_FIELDS,
            "input_tokens": ("input_tokens + cache_read_tokens + cache_creation_tokens",),
            "output_tokens": ("output_tokens",),
            "cache_read_tokens": ("cache_read_tokens",),
            "cache_write_tokens": ("cache_creation_tokens",),
            "tool_call_id": ("tool_use_id",),
            "input": ("tool_input", "tool_parameters"),
            "output": ("tool_output", "output"),
            "message": ("error",),
            "service_tier": ("speed",),
        },
        repeated=frozenset({"service_tier"}),
        # Its `user.id` is a device, and an account may use several.
        dimensions={"user_id": ("user.email", "user.account_uuid", "user.id")},
    ),
    Vendor(
        agent="codex",
        prefix="codex.",
        reports={
            "user_prompt": "prompt",
            "sse_event response.completed": "response",
            "api_error": "failed_call",
            "tool_decision": "decision",
            "tool_result": "tool",
        },
        fields={
            **_COMMON_FIELDS,
            "input_tokens": ("input_token_count",),
            "output_tokens": ("output_token_count",),
            "cache_read_tokens": ("cached_token_count",),
            "reasoning_tokens": ("reasoning_token_count",),
            "tool_call_id": ("call_id",),
            "input": ("arguments",),
            "output": ("output",),
            "message": ("error.message",),
        },
    ),
)


def vendor_of(record: LogRecord) -> Vendor | None:
    """Returns the coding agent that sent a log record, known by its event name or its body."""
    name = event_name(record)
    body = record.body if isinstance(record.body, str) else ""
    for vendor in VENDORS:
        if name.startswith(vendor.prefix) or body.startswith(vendor.prefix):
            return vendor
    return None


def report_of(record: LogRecord, vendor: Vendor) -> Report | None:
    """Returns what a record of a coding agent reports, if it has a meaning of its own.

    Codex reports the end of an answer twice: once when its stream ends, once with its tokens.
    """
    name = event_name(record).removeprefix(vendor.prefix)
    report = vendor.reports.get(name)
    if report is None:
        report = vendor.reports.get(f"{name} {record.attributes.get(_EVENT_KIND)}")
    if report == "response" and not any(
        source in record.attributes for source in vendor.fields["output_tokens"]
    ):
        return None
    return report


def event_name(record: LogRecord) -> str:
    """Returns the name of the event that a log record stands for, "" if it has none."""
    return given_name(record) or (record.body if isinstance(record.body, str) else "")


def given_name(record: LogRecord) -> str | None:
    """Returns the name that a log record gives to its event, apart from its body."""
    named = text(record.attributes.get(_EVENT_NAME))
    if named and _LINE_OF_CODE.fullmatch(record.event_name):
        return named
    return record.event_name or named
