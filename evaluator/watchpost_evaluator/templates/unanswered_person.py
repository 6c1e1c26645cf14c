"""Whether the last words of a person got an answer."""

from __future__ import annotations

import re

from watchpost_evaluator import Assertion, Session, Skip, evaluator

# With these words a person takes leave, unless there is a question mark too.
LEAVE = re.compile(r"(?i)\b(bye|goodbye|thanks|thank you|that'?s all|that is all|stop)\b")


@evaluator("unanswered_person", version="1", result="assertion", labels=["conversation"])
def unanswered_person(session: Session) -> Assertion | Skip:
    """Is true if a model said something after the last `human_input`, or the agent asked."""
    last = None
    answered = False
    for event in session.events:
        if event.type == "human_input":
            last, answered = event, False
        elif event.type == "model_response" and not event.failed:
            answered = answered or bool(event.payload.get("content"))
        elif event.type == "human_wait":
            answered = answered or bool(event.payload.get("prompt"))
    if last is None:
        return Skip("no_person")
    words = last.text("response") or ""
    if answered:
        return Assertion(True, "the person got an answer", evidence=last)
    if LEAVE.search(words) and "?" not in words:
        return Assertion(True, "the person took leave", evidence=last)
    return Assertion(False, "nothing was said after the last words of the person", evidence=last)
