"""Whether the root agent says that it reached its goal."""

from __future__ import annotations

from watchpost_evaluator import Assertion, Session, Skip, evaluator

GOOD = {"success", "succeeded", "completed", "complete", "done", "ok", "passed", "resolved"}


@evaluator("goal_reached", version="1", result="assertion", labels=["outcome"])
def goal_reached(session: Session) -> Assertion | Skip:
    """Reads the outcome of the root agent's last end."""
    if session.outcome is None:
        return Skip("no_outcome")
    ends = [one for one in session.events if one.type == "agent_end"]
    own = [one for one in ends if one.agent_id == session.agent_id]
    reasoning = f"the outcome is {session.outcome}"
    return Assertion(session.outcome in GOOD, reasoning, evidence=own[-1])
