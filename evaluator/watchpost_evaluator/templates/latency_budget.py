"""How long the agent took, without the time in which it waited for a person."""

from __future__ import annotations

from watchpost_evaluator import Number, Session, Skip, evaluator

BUDGET_SECS = 120.0


@evaluator("latency_budget", version="1", result="number", labels=["speed"])
def latency_budget(session: Session) -> Number | Skip:
    """Takes the waits that `human_input` names off the session's duration."""
    if not session.events:
        return Skip("no_events")
    answers = [one for one in session.events if one.type == "human_input"]
    waited = sum(one.count("duration_ms") or 0 for one in answers) / 1000
    secs = max(0.0, session.duration_secs - waited)
    return Number(
        secs,
        f"{secs:.1f} s of work, and {waited:.1f} s of waiting for people",
        unit="s",
        passed=secs <= BUDGET_SECS,
    )
