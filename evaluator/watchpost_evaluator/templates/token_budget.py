"""How many tokens the models read and wrote."""

from __future__ import annotations

from watchpost_evaluator import Number, Session, Skip, evaluator

BUDGET = 100_000


@evaluator("token_budget", version="1", result="number", labels=["cost"])
def token_budget(session: Session) -> Number | Skip:
    """Adds what events report."""
    tokens = session.tokens
    if not tokens.total:
        return Skip("no_tokens")
    return Number(
        tokens.total,
        f"{tokens.input} read and {tokens.output} written",
        unit="tokens",
        passed=tokens.total <= BUDGET,
    )
