"""Removes the values of an organization's redacted keys from records, before anything keeps them.

A listed key is that of an attribute, or of an object inside one, also in JSON that is text. The
keys that fields of events have are redacted when records become events.
"""

from typing import TypeVar

import msgspec

from shared.intake.otlp.records import LogRecord, Records, Resource, Scope, Span
from shared.intake.redaction.rules import Redactor
from shared.reading.evaluations.records import Evaluation

T = TypeVar("T", Resource, Scope, Span, LogRecord)

_encode = msgspec.json.Encoder().encode


def redact(records: Records, redactor: Redactor) -> None:
    """Redacts all records themselves."""
    _redact_each(records.resources, Resource, redactor)
    _redact_each(records.scopes, Scope, redactor)
    _redact_each(records.spans, Span, redactor)
    _redact_each(records.logs, LogRecord, redactor)


def _redact_each(values: list[T], kind: type[T], redactor: Redactor) -> None:
    for position, value in enumerate(values):
        encoded = _encode(value)
        redacted = redactor.redact(encoded)
        if redacted is not encoded:
            values[position] = msgspec.json.decode(redacted, type=kind)


def redact_evaluation(row: Evaluation, redactor: Redactor) -> Evaluation:
    """Returns a result without the values of redacted keys of its event."""
    [name, *_] = [*(row.scores or {}), *(row.reasoning or {}), ""]
    fields = {
        "score": (row.scores or {}).get(name),
        "explanation": (row.reasoning or {}).get(name),
        "label": row.summary,
    }
    payload = _encode(fields)
    redacted = redactor.redact(payload) if redactor else payload
    if redacted is payload:
        return row
    left = msgspec.json.decode(redacted)
    return msgspec.structs.replace(
        row,
        scores=row.scores if left["score"] == fields["score"] else None,
        reasoning=row.reasoning and {name: left["explanation"]},
        summary=row.summary and left["label"],
    )
