"""Evaluations that come as telemetry: an event, and a row of the evaluations."""

import math
import uuid
from typing import Any

import xxhash

from shared.intake.otlp.mapping.event_types import EVALUATION_RESULT
from shared.intake.otlp.mapping.payload import Event, EventEnvelope, shape
from shared.intake.otlp.mapping.tables import ERROR_TYPE, EVALUATION, EVALUATION_FIELDS
from shared.intake.otlp.mapping.values import text
from shared.reading.evaluations.records import OTLP, Evaluation

MAX_SUMMARY_BYTES = 8192
MAX_ERROR_BYTES = 2048
_UNNAMED = "evaluation"
_SHAPE = shape(EVALUATION_RESULT)


def is_evaluation(name: str) -> bool:
    """Returns whether an event is the result of an evaluation."""
    return name == EVALUATION


def evaluation_event(
    envelope: EventEnvelope,
    slot: str,
    ts: int,
    attributes: dict[str, Any],
    otel: dict[str, Any],
    span_id: str,
) -> Event:
    """Makes the event `evaluation_result`; `span_id` is that of what was evaluated, or ""."""
    fields = {**_fields(attributes), "request_id": span_id or None}
    failure = text(attributes.get(ERROR_TYPE))
    if failure is not None:
        fields |= {"error": failure, "error_type": failure}
    return envelope.event(slot, ts, _SHAPE, fields, otel)


def evaluation_row(
    envelope: EventEnvelope, slot: str, ts: int, attributes: dict[str, Any]
) -> Evaluation:
    """Makes the row of `evaluations`; its id depends on the record only."""
    fields = _fields(attributes)
    name = fields["evaluation_name"] or _UNNAMED
    score, explanation, label = fields["score"], fields["explanation"], fields["label"]
    failure = text(attributes.get(ERROR_TYPE))
    digest = xxhash.xxh3_128_digest(f"{envelope.org_id}/{envelope.identity}/{slot}".encode())
    return Evaluation(
        org_id=envelope.org_id,
        evaluation_id=str(uuid.UUID(bytes=digest, version=4)),
        session_id=envelope.session_id,
        agent_id=envelope.agent_id,
        environment=envelope.environment,
        status="done" if failure is None else "error",
        scores=None if score is None else {name: float(score)},
        reasoning=None if explanation is None else {name: explanation},
        summary=_cut(label, MAX_SUMMARY_BYTES),
        error=_cut(failure, MAX_ERROR_BYTES),
        attempt_count=1,
        duration_ms=None,
        completed_at=ts,
        evaluator=OTLP,
    )


def _fields(attributes: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        field: text(attributes.get(key)) for field, key in EVALUATION_FIELDS.items()
    }
    fields["score"] = _score(attributes.get(EVALUATION_FIELDS["score"]))
    return fields


def _score(value: Any) -> int | float | None:
    if type(value) is str:
        try:
            value = float(value)
        except ValueError:
            return None
    return value if type(value) in (int, float) and math.isfinite(value) else None


def _cut(value: str | None, limit: int) -> str | None:
    return None if value is None else value.encode()[:limit].decode(errors="ignore")
