"""The share of tool calls that failed."""

from __future__ import annotations

from watchpost_evaluator import Score, Session, Skip, evaluator

MOST = 0.1  # the share up to which a session passes


@evaluator("tool_failure_rate", version="1", labels=["tools"])
def tool_failure_rate(session: Session) -> Score | Skip:
    """Counts calls that ended; a call without an end is neither good nor bad."""
    ended = [call for call in session.tool_calls() if call.end is not None]
    if not ended:
        return Skip("no_tools")
    failed = [call for call in ended if call.failed]
    return Score(
        len(failed) / len(ended),
        f"{len(failed)} of {len(ended)} calls failed",
        passed=len(failed) / len(ended) <= MOST,
        evidence=[call.events[-1] for call in failed],
    )
