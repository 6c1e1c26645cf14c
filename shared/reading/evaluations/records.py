"""The record of one evaluation result; its fields are the columns of the tables of results."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

Status = Literal["done", "error", "timeout"]

# Evaluators of the deployment: that of the variables EVALUATOR_*, and results of OpenTelemetry.
DEFAULT, OTLP = "default", "otlp"
BUILTINS = (DEFAULT, OTLP)


# The kinds of values.
KINDS = ("score", "number", "assertion", "category", "text")


class EvaluatedResult(msgspec.Struct, frozen=True, kw_only=True):
    """One value of an evaluation; `kind` is score, number, assertion, category or text.

    `evidence` are ids of events, in digits. The table has the reasoning in a map of its own.
    """

    key: str
    kind: str
    value: float | bool | str
    passed: bool | None = None
    unit: str | None = None
    reasoning: str | None = None
    labels: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """A result; `completed_at` is in microseconds since the epoch.

    `(org_id, completed_at, evaluation_id)` is the key: the same record stored twice is one result,
    so a repeated write must repeat the time too. Maps are null rather than empty.

    The events that arrived up to `revision` are covered: `covered_events` of them, the last one at
    `covered_until`. `coverage` is JSON about what of them was shown. Results from before own
    evaluators have no trigger, and a revision of 0.
    """

    org_id: str
    evaluation_id: str
    session_id: str
    agent_id: str
    environment: str
    status: Status
    scores: dict[str, float] | None
    reasoning: dict[str, str] | None
    summary: str | None
    error: str | None
    attempt_count: int
    duration_ms: int | None
    completed_at: int
    evaluator: str = DEFAULT
    evaluator_version: str | None = None
    trigger: str | None = None
    results: tuple[EvaluatedResult, ...] = ()
    revision: int = 0
    covered_events: int | None = None
    covered_until: int | None = None
    coverage: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    backfill_id: str | None = None


COLUMNS: tuple[str, ...] = Evaluation.__struct_fields__

# ClickHouse has no null maps; an empty one stands for null there.
MAP_COLUMNS = frozenset({"scores", "reasoning"})
# Read as integers of microseconds.
MOMENTS = frozenset({"completed_at", "covered_until"})

_ResultRow = tuple[Any, ...]


def from_row(row: tuple[object, ...]) -> Evaluation:
    """Creates the record from a row of all columns, `MOMENTS` in microseconds."""
    values = dict(zip(COLUMNS, row, strict=True))
    for name in MAP_COLUMNS:
        values[name] = values[name] or None
    found: Any = values["results"]
    reasoning: Any = values["reasoning"] or {}
    values["results"] = [_value(one, reasoning) for one in found]
    return msgspec.convert(values, Evaluation)


def column(name: str, rows: list[Evaluation]) -> list[object]:
    """Returns a column as ClickHouse stores it."""
    values = [getattr(row, name) for row in rows]
    if name in MAP_COLUMNS:
        return [value or {} for value in values]
    if name == "results":
        return [[_stored(one) for one in value] for value in values]
    return values


def _stored(one: EvaluatedResult) -> _ResultRow:
    number = one.value if isinstance(one.value, int | float) else None
    text = one.value if isinstance(one.value, str) else None
    return (
        one.key,
        one.kind,
        None if number is None else float(number),
        text if one.kind == "category" else None,
        text if one.kind != "category" else None,
        one.passed,
        one.unit,
        list(one.labels),
        list(one.evidence),
        list(one.flags),
    )


def _value(row: _ResultRow, reasoning: Mapping[str, str]) -> Mapping[str, object]:
    key, kind, number, label, text, passed, unit, labels, evidence, flags = row
    value = next((one for one in (number, label, text) if one is not None), 0.0)
    return {
        "key": key,
        "kind": kind,
        "value": bool(value) if kind == "assertion" else value,
        "passed": passed,
        "unit": unit,
        "reasoning": reasoning.get(key),
        "labels": labels,
        "evidence": evidence,
        "flags": flags,
    }
