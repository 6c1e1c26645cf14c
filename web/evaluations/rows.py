"""Results as JSON."""

from shared.core.clock import format_us
from shared.evaluations.records import Evaluation


def evaluation_row(record: Evaluation) -> dict[str, object]:
    """Returns the row of one result, also within a session."""
    completed_at = format_us(record.completed_at)
    return {
        "evaluation_id": record.evaluation_id,
        "id": record.evaluation_id,
        "session_id": record.session_id,
        "agent_id": record.agent_id,
        "environment": record.environment,
        "status": record.status,
        "scores": record.scores,
        "reasoning": record.reasoning,
        "summary": record.summary,
        "error": record.error,
        "attempt_count": record.attempt_count,
        "duration_ms": record.duration_ms,
        "completed_at": completed_at,
        "created_at": completed_at,
    }
