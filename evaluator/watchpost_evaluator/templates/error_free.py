"""Whether no event reports a failure."""

from __future__ import annotations

from watchpost_evaluator import Assertion, Session, evaluator


@evaluator("error_free", version="1", result="assertion", labels=["outcome"])
def error_free(session: Session) -> Assertion:
    """Counts errors, failed calls and failed ends."""
    errors = session.errors()
    return Assertion(not errors, f"{len(errors)} events report a failure", evidence=errors)
