"""What the five kinds of triggers see: rules in, readings out."""

from shared.alerts.evaluation.triggers.batch import evaluate
from shared.alerts.evaluation.triggers.interface import (
    Context,
    NotEvaluated,
    Outcome,
    Reading,
    Rule,
)

__all__ = ["Context", "NotEvaluated", "Outcome", "Reading", "Rule", "evaluate"]
