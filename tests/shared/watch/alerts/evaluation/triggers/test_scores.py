"""Averages of scores: evaluation_score and eval_compound."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal

import pytest

from shared.foundation.core.clock import from_us, to_us
from shared.reading.evaluations import store
from shared.reading.evaluations.records import Evaluation
from shared.watch.alerts.evaluation.triggers.batch import evaluate
from shared.watch.alerts.evaluation.triggers.interface import NotEvaluated, RuleContext, RuleReading
from shared.watch.alerts.specs import (
    AtLeast,
    EvalCompound,
    EvaluationScore,
    Op,
    ScoreCondition,
)
from tests.reading.scores import results_of
from tests.shared.watch.alerts.evaluation.triggers.conftest import (
    NOON,
    reading_of,
    refusal_of,
    rule,
)
from tests.support.airline import Airline
from tests.support.evaluations import evaluation
from tests.support.runtime import make_org

KEYS = ("success", "tools", "cost, total", "politeness", "größe", "nothing")
PLACES: tuple[dict[str, str], ...] = (
    {},
    {"environment": "production"},
    {"agent_id": "triage"},
    {"environment": "again, by hand", "agent_id": "*"},
)
DAY = 86_400


def add(context: RuleContext, *scores: Mapping[str, float], **fields: Any) -> list[Evaluation]:
    """Adds results of one minute before noon."""
    at = to_us(NOON) - 60_000_000
    rows = [
        evaluation(context.org_id, f"s{place}", at + place, **{"scores": dict(one), **fields})
        for place, one in enumerate(scores)
    ]
    store.insert(context.runtime.clickhouse, rows)
    return rows


def score(key: str = "x", op: Op = "<", value: float = 0.5, **fields: Any) -> EvaluationScore:
    values = {"window_secs": 300, **fields}
    return EvaluationScore(score_key=key, op=op, value=value, **values)


def test_averages_of_the_recording_are_what_adding_up_finds(
    context: RuleContext, airline: Airline
) -> None:
    results = results_of(airline.recent(NOON), context.org_id)
    for rows in (results[::2], results[::-3], results[1::2]):
        store.insert(context.runtime.clickhouse, rows)
    last = from_us(max(row.completed_at for row in results) + 1)
    specs = [
        score(key, ">", 0.0, window_secs=secs, min_count=3, **named)
        for key in KEYS
        for named in PLACES
        for secs in (3 * 3600, 9 * DAY, 30 * DAY)
    ]
    rules = [rule(spec, until=last) for spec in specs]
    outcomes = evaluate(context, rules)
    readings = 0
    for one, spec in zip(rules, specs, strict=True):
        since = to_us(last - timedelta(seconds=spec.window_secs))
        admitted = {"environment": spec.environment, "agent_id": spec.agent_id}
        scores = [
            row.scores[spec.score_key]
            for row in results
            if row.scores is not None
            and spec.score_key in row.scores
            and since <= row.completed_at
            and all(value in (None, getattr(row, name)) for name, value in admitted.items())
        ]
        outcome = outcomes[one.alert_id]
        if len(scores) < 3:
            assert outcome == NotEvaluated(
                f"{len(scores)} of at least 3 evaluations with the score"
                f" '{spec.score_key}' in the window"
            )
        else:
            assert isinstance(outcome, RuleReading)
            average = sum(scores) / len(scores)
            assert outcome.value == pytest.approx(average)
            assert outcome.breached is (average > 0)
            assert outcome.evidence["counts"] == {"evaluations": len(scores)}
            readings += 1
    assert 20 < readings < len(rules) - 10


def test_only_results_that_are_done_and_have_the_score_count(context: RuleContext) -> None:
    add(context, {"x": 0.2}, {"y": 1}, {"x": 0.6})
    add(context, {"x": 1}, status="error")
    reading = reading_of(context, score())
    assert reading.value == pytest.approx(0.4)
    assert reading.breached
    assert reading.summary == (
        "the average of the score 'x' was 0.4 over 2 evaluations of the last 300 s (< 0.5)"
    )


def test_another_organizations_results_count_for_nothing(
    context: RuleContext,
) -> None:
    add(context, {"x": 0.2})
    other = replace(context, org_id=make_org(context.runtime).id)
    assert refusal_of(other, score()) == (
        "0 of at least 1 evaluations with the score 'x' in the window"
    )


def test_too_few_results_are_no_reason_to_judge(context: RuleContext) -> None:
    add(context, {"x": 0.2}, {"x": 0.2})
    assert refusal_of(context, score(min_count=3)) == (
        "2 of at least 3 evaluations with the score 'x' in the window"
    )
    assert reading_of(context, score(min_count=2)).breached


def test_a_result_that_was_stored_again_counts_once(context: RuleContext) -> None:
    rows = add(context, {"x": 0.2})
    store.insert(context.runtime.clickhouse, rows)
    assert reading_of(context, score()).evidence["counts"] == {"evaluations": 1}


def test_a_window_of_results_begins_with_its_first_microsecond(context: RuleContext) -> None:
    for at, value in ((-300_000_001, 9), (-300_000_000, 1), (-1, 3), (0, 9)):
        rows = [evaluation(context.org_id, "s", to_us(NOON) + at, scores={"x": float(value)})]
        store.insert(context.runtime.clickhouse, rows)
    assert reading_of(context, score()).value == 2


@pytest.mark.parametrize(("op", "worst"), [("<", ["s1", "s3"]), (">=", ["s2", "s0"])])
def test_the_scores_that_pull_the_average_are_shown(
    context: RuleContext, op: Op, worst: list[str]
) -> None:
    rows = add(context, {"x": 0.7}, {"x": 0.1}, {"x": 0.9}, {"x": 0.3}, {"x": 0.5})
    bound = 1.0 if op == "<" else 0.0
    evidence = reading_of(context, score(op=op, value=bound)).evidence
    assert evidence["session_ids"][:2] == worst
    names = {row.session_id: row.evaluation_id for row in rows}
    assert evidence["evaluation_ids"][:2] == [names[session] for session in worst]


def test_scores_too_large_to_be_added_up_have_an_average(context: RuleContext) -> None:
    add(context, {"x": 1.5e308}, {"x": 1.5e308})
    assert reading_of(context, score(op=">", value=1e308)).value == 1.5e308


def compound(
    combinator: Literal["any", "all"] | int, *keys: str, min_count: int = 2
) -> EvalCompound:
    """Returns conditions that the average of each key is below a half.

    A number means "at least".
    """
    return EvalCompound(
        combinator=AtLeast(at_least=combinator) if isinstance(combinator, int) else combinator,
        conditions=tuple(ScoreCondition(score_key=key, op="<", value=0.5) for key in keys),
        min_count=min_count,
    )


# low and lower hold, high and higher do not. There is only one score of few.
SCORES = {"low": 0.1, "lower": 0.0, "high": 0.9, "higher": 1.0}


@pytest.mark.parametrize(
    ("combinator", "keys", "value", "breached"),
    [
        ("any", ["high", "low"], 1, True),
        ("any", ["high", "higher"], 0, False),
        ("any", ["few", "low"], 1, True),
        ("all", ["low", "lower"], 2, True),
        ("all", ["low", "high"], 1, False),
        ("all", ["few", "high"], 0, False),
        (2, ["low", "lower", "high"], 2, True),
        (2, ["low", "high", "higher"], 1, False),
        (2, ["low", "lower", "few"], 2, True),
        (2, ["few", "high", "higher"], 0, False),
    ],
)
def test_conditions_are_combined(
    context: RuleContext, combinator: Any, keys: list[str], value: int, breached: bool
) -> None:
    add(context, {**SCORES, "few": 0.1}, SCORES)
    reading = reading_of(context, compound(combinator, *keys))
    assert (reading.value, reading.breached) == (value, breached)
    holding = {one["score_key"] for one in reading.evidence["conditions"] if one["holds"]}
    assert holding == {"low", "lower"}.intersection(keys)
    assert ("evaluation_ids" in reading.evidence) is breached


@pytest.mark.parametrize(
    ("combinator", "keys"),
    [
        ("any", ["few", "high"]),
        ("all", ["few", "low"]),
        (2, ["few", "low", "high"]),
        (2, ["low", "few", "few"]),
        ("all", ["missing"]),
    ],
)
def test_a_condition_that_is_short_and_would_decide_leaves_the_rule_without_a_judgement(
    context: RuleContext, combinator: Any, keys: list[str]
) -> None:
    add(context, {**SCORES, "few": 0.1}, SCORES)
    count, key = (0, "missing") if "missing" in keys else (1, "few")
    assert refusal_of(context, compound(combinator, *keys)) == (
        f"{count} of at least 2 evaluations with the score '{key}' in the window"
    )


def test_a_compound_reports_the_conditions_that_hold(context: RuleContext) -> None:
    add(context, SCORES, SCORES, environment="staging")
    wanted = compound("any", "low", "high")
    reading = reading_of(context, wanted)
    assert reading.summary == (
        "1 of 2 conditions held over the evaluations of the last 1 h (>= 1): low 0.1 < 0.5"
    )
    assert set(reading.evidence["session_ids"]) == {"s0", "s1"}
