"""Whether the last words of the agent are JSON."""

from __future__ import annotations

import json

from watchpost_evaluator import Assertion, Session, Skip, evaluator

MAY_BE_FENCED = True  # whether ```json … ``` around it is fine


@evaluator("valid_json_output", version="1", result="assertion", labels=["output"])
def valid_json_output(session: Session) -> Assertion | Skip:
    """Reads the last answer of a model to the root agent that is not empty."""
    answers = [
        call
        for call in session.model_calls()
        if call.agent_id == session.agent_id and isinstance(call.content, str) and call.content
    ]
    if not answers:
        return Skip("no_output")
    text = answers[-1].content.strip()
    if MAY_BE_FENCED and text.startswith("```") and text.endswith("```"):
        text = text.strip("`").partition("\n")[2]
    try:
        json.loads(text)
    except ValueError as error:
        return Assertion(False, f"it is no JSON: {error}", evidence=answers[-1].events[-1])
    return Assertion(True, "it is JSON", evidence=answers[-1].events[-1])
