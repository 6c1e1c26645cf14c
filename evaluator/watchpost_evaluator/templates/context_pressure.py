"""How full the context window of a model was at most."""

from __future__ import annotations

from watchpost_evaluator import Score, Session, Skip, evaluator

MOST = 0.8  # the share up to which a session passes
# In tokens, by the beginning of a model's name without its provider; the longest one counts.
WINDOWS = {
    "claude": 200_000,
    "claude-opus-4.6": 1_000_000,
    "claude-sonnet-4.6": 1_000_000,
    "deepseek": 131_072,
    "gemini": 1_048_576,
    "gpt-3.5-turbo": 16_385,
    "gpt-4": 8_192,
    "gpt-4-turbo": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-4o": 128_000,
    "gpt-5": 400_000,
    "llama-3": 131_072,
    "mistral": 131_072,
    "o1": 200_000,
    "o3": 200_000,
    "o4-mini": 200_000,
    "qwen": 131_072,
}


def window_of(model: str) -> int | None:
    """Returns the window of a model in tokens, None for one that is not in the table."""
    name = model.lower().rpartition("/")[2]
    families = [one for one in WINDOWS if name.startswith(one)]
    return WINDOWS[max(families, key=len)] if families else None


@evaluator("context_pressure", version="1", labels=["cost"])
def context_pressure(session: Session) -> Score | Skip:
    """Compares what each answer read and wrote with the window of its model."""
    fullest, call_of_it = 0.0, None
    for call in session.model_calls():
        window = window_of(call.model)
        tokens = (call.input_tokens or 0) + (call.output_tokens or 0)
        if window and tokens / window > fullest:
            fullest, call_of_it = tokens / window, call
    if call_of_it is None:
        return Skip("no_window_or_tokens")
    return Score(
        min(1.0, fullest),
        f"{call_of_it.model} was {fullest:.0%} full",
        passed=fullest <= MOST,
        evidence=call_of_it.events[-1],
    )
