"""Evaluation results for tests."""

from typing import Any

from shared.foundation.core.ids import new_id
from shared.reading.evaluations.records import Evaluation


def evaluation(org_id: str, session_id: str, completed_at: int, **fields: Any) -> Evaluation:
    """Returns a result of a session at a moment. `fields` replace those of a plain success."""
    values: dict[str, Any] = {
        "org_id": org_id,
        "evaluation_id": str(new_id()),
        "session_id": session_id,
        "agent_id": "main",
        "environment": "production",
        "status": "done",
        "scores": None,
        "reasoning": None,
        "summary": None,
        "error": None,
        "attempt_count": 1,
        "duration_ms": None,
        "completed_at": completed_at,
    }
    return Evaluation(**(values | fields))
