"""Whether a session is over for an evaluator, and whether it is evaluated again."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from shared.evaluation.runs.budgets import MonthlyUse, runs_left
from shared.evaluation.runs.deciding import (
    ActiveEvaluator,
    RunHistory,
    SessionPause,
    may_rescore,
    next_idle_at,
    trigger_of,
)

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def evaluator(**fields: Any) -> ActiveEvaluator:
    made = ActiveEvaluator(
        *(UUID(int=1), UUID(int=2), UUID(int=3), None),
        enabled_since=after(-3600),
        sample=Decimal(100),
        sample_seed="s",
        idle_secs=None,
        rescore="never",
        rescore_max=3,
        budget=None,
    )
    return made._replace(**fields)


def test_an_end_counts_if_the_evaluator_was_on_by_then() -> None:
    ended = SessionPause(NOON, after(2), idle_only=False)
    assert trigger_of(evaluator(), ended, after(2)) == "agent_end"
    assert trigger_of(evaluator(enabled_since=after(2)), ended, after(9)) == "agent_end"
    assert trigger_of(evaluator(enabled_since=after(3)), ended, after(9)) is None


def test_a_session_is_idle_after_the_evaluators_own_time() -> None:
    open_ = SessionPause(NOON, None, idle_only=False)
    assert trigger_of(evaluator(), open_, after(9999)) is None
    assert trigger_of(evaluator(idle_secs=60), open_, after(59)) is None
    assert trigger_of(evaluator(idle_secs=60), open_, after(60)) == "inactivity"
    assert trigger_of(evaluator(idle_secs=60, enabled_since=after(61)), open_, after(99)) is None


def test_a_session_that_telemetry_names_is_over_after_a_minute() -> None:
    open_ = SessionPause(NOON, None, idle_only=True)
    assert trigger_of(evaluator(), open_, after(60)) == "inactivity"
    assert trigger_of(evaluator(idle_secs=600), open_, after(60)) is None


def test_the_next_idle_moment_is_the_earliest_to_come() -> None:
    open_ = SessionPause(NOON, None, idle_only=False)
    some = [evaluator(idle_secs=600), evaluator(), evaluator(idle_secs=60)]
    assert next_idle_at(some, open_, NOON) == after(60)
    assert next_idle_at(some, open_, after(60)) == after(600)
    assert next_idle_at(some, open_, after(600)) is None


@pytest.mark.parametrize(
    ("rescore", "trigger", "history", "again"),
    [
        ("never", "agent_end", RunHistory(), True),
        ("never", "agent_end", RunHistory(0, 9), True),
        ("never", "agent_end", RunHistory(1, 4), False),
        ("each_end", "agent_end", RunHistory(1, 4), True),
        ("each_end", "agent_end", RunHistory(1, 5), False),
        ("each_end", "agent_end", RunHistory(3, 4), False),
        ("each_end", "inactivity", RunHistory(1, 4), False),
        ("each_end", "inactivity", RunHistory(), True),
        ("each_idle", "inactivity", RunHistory(2, 4), True),
        ("each_idle", "agent_end", RunHistory(2, 4), False),
    ],
)
def test_a_session_is_evaluated_again_for_events_that_no_run_covers(
    rescore: str, trigger: Any, history: RunHistory, again: bool
) -> None:
    assert may_rescore(evaluator(rescore=rescore), trigger, history, revision=5) is again


@pytest.mark.parametrize(
    ("budget", "used", "left"),
    [
        ({"evaluations": 10}, MonthlyUse(7), 3),
        ({"evaluations": 10}, MonthlyUse(12), 0),
        ({"evaluations": None, "tokens": 100}, MonthlyUse(5, 99), 2**31),
        ({"evaluations": 10, "tokens": 100}, MonthlyUse(5, 100), 0),
        ({"usd": 0.3}, MonthlyUse(usd=Decimal("0.29")), 2**31),
        ({"usd": 0.3}, MonthlyUse(usd=Decimal("0.3")), 0),
    ],
)
def test_a_budget_leaves_runs_until_anything_of_it_is_spent(
    budget: dict[str, float | None], used: MonthlyUse, left: int
) -> None:
    assert runs_left(budget, used) == left
