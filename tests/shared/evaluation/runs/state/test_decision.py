"""The state of a session for an evaluator, and its sentence."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from shared.evaluation.evaluation_jobs.breaker import Breaker
from shared.evaluation.evaluation_jobs.listing import LiveJob
from shared.evaluation.evaluators.conditions.nodes import Leaf
from shared.evaluation.runs.budgets import MonthlyUse
from shared.evaluation.runs.deciding import ActiveEvaluator, SessionPause
from shared.evaluation.runs.state.decision import (
    RunInCall,
    SessionForEvaluator,
    decide,
)
from tests.support.evaluations import evaluation

NOON = datetime(2026, 5, 31, 12, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


ACTIVE = ActiveEvaluator(
    *(UUID(int=1), UUID(int=2), UUID(int=3), None),
    enabled_since=after(-3600),
    sample=Decimal(100),
    sample_seed="s",
    idle_secs=None,
    rescore="never",
    rescore_max=3,
    budget=None,
)
ENDED = SessionPause(after(-60), None, idle_only=False)


def state(**fields: Any) -> tuple[str, str, str | None]:
    found = SessionForEvaluator(
        now=NOON,
        enabled=True,
        active=ACTIVE,
        session_id="s",
        run=None,
        latest=None,
        pause=ENDED,
        has_ended=True,
        against=None,
        used=MonthlyUse(),
        breaker=Breaker(),
    )
    decided = decide(found._replace(**fields))
    return decided.code, decided.sentence, decided.detail


def run(*, in_call: bool = False, **fields: Any) -> RunInCall:
    job = LiveJob(
        *(UUID(int=9), "s", "main", "e", "pending", "agent_end", 0, None),
        enqueued_at=after(-30),
        next_attempt_at=after(30),
        poll_deadline_at=None,
        last_error=None,
    )
    return RunInCall(job._replace(**fields), in_call, after(-5) if in_call else None)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, "waiting"),
        ({"active": None}, "no_version"),
        ({"enabled": False}, "paused"),
        ({"pause": None}, "before_evaluator"),
        ({"active": ACTIVE._replace(enabled_since=after(-59))}, "before_evaluator"),
        ({"has_ended": False}, "not_ended"),
        ({"pause": ENDED._replace(ended_at=after(1))}, "settling"),
        ({"pause": ENDED._replace(idle_only=True, last_arrival_at=after(-59))}, "not_ended"),
        ({"pause": ENDED._replace(idle_only=True)}, "waiting"),
        ({"has_ended": False, "active": ACTIVE._replace(idle_secs=60)}, "waiting"),
        ({"has_ended": False, "active": ACTIVE._replace(idle_secs=61)}, "not_ended"),
        ({"active": ACTIVE._replace(sample=Decimal(0))}, "not_sampled"),
        ({"latest": evaluation("o", "s", 1)}, "scored"),
        ({"latest": evaluation("o", "s", 1, status="timeout")}, "timeout"),
        ({"latest": evaluation("o", "s", 1), "run": run()}, "queued"),
        ({"run": run(in_call=True)}, "calling"),
        ({"run": run(status="polling")}, "polling"),
        ({"run": run(), "enabled": False}, "paused"),
        ({"latest": evaluation("o", "s", 1), "active": None}, "scored"),
    ],
)
def test_codes(fields: dict[str, Any], code: str) -> None:
    found, sentence, _ = state(**fields)
    assert found == code
    assert sentence.endswith(".")


def test_a_session_that_is_left_out_names_what_decided() -> None:
    code, sentence, detail = state(against=Leaf("error_count", ">", 0.0))
    assert code == "not_applicable"
    assert detail
    assert detail in sentence


def test_a_budget_names_the_month_that_follows() -> None:
    active = ACTIVE._replace(budget={"evaluations": 2})
    assert state(active=active, used=MonthlyUse(1))[0] == "waiting"
    code, sentence, detail = state(active=active, used=MonthlyUse(2))
    assert (code, detail) == ("budget_exhausted", "2026-06-01T00:00:00.000000Z")
    assert "2026-06-01" in sentence


def test_a_run_behind_an_open_breaker_says_until_when() -> None:
    away = Breaker(10, after(-100), "the evaluator answered 503", 30.0, after(20))
    code, sentence, detail = state(run=run(), breaker=away)
    assert (code, detail) == ("breaker_open", "2026-05-31T12:00:20.000000Z")
    assert "answered 503" in sentence
    assert state(run=run(in_call=True), breaker=away)[0] == "calling"


def test_a_failed_attempt_is_told() -> None:
    code, sentence, _ = state(run=run(attempt_count=2, last_error="it broke"))
    assert code == "queued"
    assert "Attempt 2 failed: it broke." in sentence
