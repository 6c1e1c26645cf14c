"""Events from the log records of coding agents; `vendors` has a row for each agent."""

from collections.abc import Callable
from typing import Any

from shared.intake.otlp.mapping.payload import MAX_MS, Event, EventEnvelope, shape
from shared.intake.otlp.mapping.values import count, decoded, present, text, word
from shared.intake.otlp.mapping.vendors import REPORTS, Report, Vendor
from shared.intake.otlp.records import LogRecord

_Fields = dict[str, Any]
_64_BITS = 2**64 - 1
_ONLY_LAST = ("attributes", "resource")
_REFUSED = frozenset({"reject", "rejected", "denied", "deny", "abort", "aborted"})


def report_events(
    envelope: EventEnvelope, record: LogRecord, vendor: Vendor, report: Report, otel: _Fields
) -> list[Event]:
    """Returns the events of a record that has a meaning of its own.

    `otel` has all attributes; those that fields come from are left out here.
    """
    values, rest = _read(record.attributes, vendor)
    _complete(report, values, record)
    us = record.time_ns // 1000
    whole = otel | {"attributes": rest}
    *starts, last = _SHAPES[report]
    events = []
    for start in starts:
        began = max(us - values.get("duration_ms", 0) * 1000, 0)
        brief = {key: value for key, value in otel.items() if key not in _ONLY_LAST}
        events.append(envelope.event("start", began, start, values, brief))
    events.append(envelope.event("end", us, last, values, whole))
    return events


def _read(attributes: _Fields, vendor: Vendor) -> tuple[_Fields, _Fields]:
    """Returns the fields that a record gives, and the attributes that belong to none."""
    fields: _Fields = {}
    used: set[str] = set()
    for field, sources in vendor.fields.items():
        convert: Callable[[Any], Any] = _CONVERTERS.get(field, text)
        for notation in sources:
            keys = notation.split(" + ")
            values = [convert(attributes.get(key)) for key in keys]
            if field not in vendor.repeated:
                used.update(keys)
            known = [value for value in values if value is not None]
            if known and field not in fields:
                fields[field] = sum(known) if len(keys) > 1 else known[0]
    return fields, {key: value for key, value in attributes.items() if key not in used}


def _complete(report: Report, values: _Fields, record: LogRecord) -> None:
    """Adds the values that no attribute has as they are."""
    if report == "prompt":
        values.setdefault("response", "")
    elif report == "failed_call":
        values["error_type"] = "api_error"
    elif report == "decision":
        decision = text(record.attributes.get("decision")) or ""
        values["hook_name"] = "permission"
        values["outcome"] = "denied" if decision.lower() in _REFUSED else "success"
    elif report == "tool":
        values["tool_kind"] = "tool"
        values.setdefault("tool_call_id", f"{record.digest & _64_BITS:016x}")
        if str(record.attributes.get("success")).lower() == "false":
            values["error"] = values.get("message") or text(values.get("output")) or "error"


def _decoded(value: Any) -> Any:
    return present(decoded(value))


def _milliseconds(value: Any) -> int | None:
    number = _number(value)
    return None if number is None or number < 0 else min(int(number), MAX_MS)


def _number(value: Any) -> int | float | None:
    """Returns a finite number, which may be a text."""
    if type(value) is str:
        try:
            value = float(value)
        except ValueError:
            return None
    return value if type(value) in (int, float) and abs(value) < float("inf") else None


# The converters of fields that are no texts.
_CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "input": _decoded,
    "output": _decoded,
    **dict.fromkeys(
        ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"), count
    ),
    "reasoning_tokens": count,
    "service_tier": word,
    "cost_usd": _number,
    "duration_ms": _milliseconds,
}
_SHAPES = {report: tuple(map(shape, rows)) for report, rows in REPORTS.items()}
