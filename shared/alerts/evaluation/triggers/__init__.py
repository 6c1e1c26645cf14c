"""The five kinds of triggers, which turn rules into readings."""

from shared.alerts.evaluation.triggers.batch import evaluate
from shared.alerts.evaluation.triggers.interface import (
    Context,
    NotEvaluated,
    Outcome,
    Reading,
    Rule,
)

__all__ = ["Context", "NotEvaluated", "Outcome", "Reading", "Rule", "evaluate"]
