"""Whether the last words of a person got an answer."""

from __future__ import annotations

import re

from watchpost_evaluator import Assertion, Session, Skip, evaluator

# With these words a person takes leave, unless there is a question mark too.
LEAVE = re.compile(r"(?i)\b(bye|goodbye|thanks|thank you|that'?s all|that is all|stop)\b")


@evaluator("unanswered_person", version="1", result="assertion", labels=["conversation"])
def unanswered_person(session: Session) -> Assertion | Skip:
    """Is true if the agent said something after the last words of a person, or asked."""
    last = None
    answered = False
    for turn in session.turns():
        if turn.role == "user":
            last, answered = turn, False
        elif turn.role == "assistant":
            answered = answered or bool(turn.text.strip())
    if last is None:
        return Skip("no_person")
    if answered:
        return Assertion(True, "the person got an answer", evidence=last)
    if LEAVE.search(last.text) and "?" not in last.text:
        return Assertion(True, "the person took leave", evidence=last)
    return Assertion(False, "nothing was said after the last words of the person", evidence=last)
