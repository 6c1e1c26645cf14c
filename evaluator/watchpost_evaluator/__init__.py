"""Scores sessions of AI agents for Watchpost, with functions in Python."""

from __future__ import annotations

from watchpost_evaluator.definition import Evaluator, evaluator
from watchpost_evaluator.events import Event, ModelCall, ToolCall
from watchpost_evaluator.outcome import Outcome
from watchpost_evaluator.session import Session
from watchpost_evaluator.turns import Turn
from watchpost_evaluator.values import Assertion, Category, Number, Results, Score, Skip, Text

__version__ = "0.1.0"

__all__ = [
    "Assertion",
    "Category",
    "Evaluator",
    "Event",
    "ModelCall",
    "Number",
    "Outcome",
    "Results",
    "Score",
    "Session",
    "Skip",
    "Text",
    "ToolCall",
    "Turn",
    "evaluator",
]
