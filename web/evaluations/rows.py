"""Results as JSON."""

import msgspec

from shared.foundation.core.clock import format_us
from shared.reading.evaluations.records import DEFAULT, EvaluatedResult, Evaluation
from web.evaluations import schemas
from web.responses import row_of


def evaluation_row(record: Evaluation, *, stale: bool = False) -> dict[str, object]:
    """Returns the row of one result, also within a session."""
    completed_at = format_us(record.completed_at)
    return row_of(
        schemas.Evaluation,
        record,
        id=record.evaluation_id,
        completed_at=completed_at,
        created_at=completed_at,
        results=[msgspec.structs.asdict(one) for one in _results(record)],
        covers=_covers(record),
        usage=_usage(record),
        coverage=None if record.coverage is None else msgspec.json.decode(record.coverage),
        stale=stale,
    )


def _results(record: Evaluation) -> tuple[EvaluatedResult, ...]:
    """Returns the values; the scores of the deployment's evaluator are its results, as numbers."""
    if record.evaluator != DEFAULT:
        return record.results
    reasoning = record.reasoning or {}
    return tuple(
        EvaluatedResult(key=key, kind="number", value=value, reasoning=reasoning.get(key))
        for key, value in (record.scores or {}).items()
    )


def _covers(record: Evaluation) -> dict[str, object] | None:
    if record.covered_events is None or record.covered_until is None:
        return None
    return {
        "event_count": record.covered_events,
        "last_event_at": format_us(record.covered_until),
    }


def _usage(record: Evaluation) -> dict[str, object] | None:
    usage: dict[str, object] = {
        "input_tokens": record.input_tokens,
        "output_tokens": record.output_tokens,
        "cost_usd": record.cost_usd,
    }
    return None if all(value is None for value in usage.values()) else usage
