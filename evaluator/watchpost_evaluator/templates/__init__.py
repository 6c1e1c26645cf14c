"""Evaluators to copy and change. As MODULE, `watchpost_evaluator.templates` is all of them."""

from __future__ import annotations

from watchpost_evaluator.templates.context_pressure import context_pressure
from watchpost_evaluator.templates.error_free import error_free
from watchpost_evaluator.templates.forbidden_tool import forbidden_tool
from watchpost_evaluator.templates.goal_reached import goal_reached
from watchpost_evaluator.templates.latency_budget import latency_budget
from watchpost_evaluator.templates.leaked_secret import leaked_secret
from watchpost_evaluator.templates.order_of_tools import order_of_tools
from watchpost_evaluator.templates.token_budget import token_budget
from watchpost_evaluator.templates.tool_failure_rate import tool_failure_rate
from watchpost_evaluator.templates.tool_loop import tool_loop
from watchpost_evaluator.templates.unanswered_person import unanswered_person
from watchpost_evaluator.templates.valid_json_output import valid_json_output

__all__ = [
    "context_pressure",
    "error_free",
    "forbidden_tool",
    "goal_reached",
    "latency_budget",
    "leaked_secret",
    "order_of_tools",
    "token_budget",
    "tool_failure_rate",
    "tool_loop",
    "unanswered_person",
    "valid_json_output",
]
