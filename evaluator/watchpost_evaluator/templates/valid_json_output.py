"""Whether the last words of the agent are JSON."""

from __future__ import annotations

import json

from watchpost_evaluator import Assertion, Session, Skip, evaluator

MAY_BE_FENCED = True  # whether ```json … ``` around it is fine


@evaluator("valid_json_output", version="1", result="assertion", labels=["output"])
def valid_json_output(session: Session) -> Assertion | Skip:
    """Reads the last words of the root agent."""
    said = [one for one in session.turns(session.agent_id) if one.role == "assistant" and one.text]
    if not said:
        return Skip("no_output")
    text = said[-1].text.strip()
    if MAY_BE_FENCED and text.startswith("```") and text.endswith("```"):
        text = text.strip("`").partition("\n")[2]
    try:
        json.loads(text)
    except ValueError as error:
        return Assertion(False, f"it is no JSON: {error}", evidence=said[-1])
    return Assertion(True, "it is JSON", evidence=said[-1])
