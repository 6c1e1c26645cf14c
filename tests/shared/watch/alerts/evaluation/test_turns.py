"""Rules that do not fit into a statement or a turn, evaluated as workers do it."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
import pytest

from shared.foundation.core.clock import now
from shared.foundation.deployment.runtime import Runtime
from shared.watch.alerts.evaluation import evaluating
from shared.watch.alerts.evaluation.triggers import aggregates, metric_threshold
from shared.watch.alerts.evaluation.triggers.batch import evaluate as by_triggers
from shared.watch.alerts.evaluation.triggers.interface import Outcome, Rule, RuleContext
from tests.support.alerting import Watch, hurry_sleepers, reading
from tests.support.events import store_events

_OVER_TIME = "the statement took longer than 10 s"
_OVER_MEMORY = "the statement needs more memory than is allowed"
# Nine rows, 0.2 s each.
_SLOW = ("sumIf", "sleepEachRow(0.2)")
# Nine rows, 4 MB each.
_GREEDY = ("uniqExactIf", "repeat(session_id, 1000000)")


class Counting:
    """The real evaluation, which also records the rules of each call."""

    def __init__(self) -> None:
        self.asked: list[list[UUID]] = []

    def __call__(self, context: RuleContext, rules: Sequence[Rule]) -> Mapping[UUID, Outcome]:
        self.asked.append([rule.alert_id for rule in rules])
        return by_triggers(context, rules)


def count_over(secs: int, **fields: Any) -> dict[str, Any]:
    """Returns a spec that events breach."""
    return {"metric": "event_count", "op": ">", "value": 2, "window_secs": secs, **fields}


def too_much(secs: int = 300) -> dict[str, Any]:
    """Returns a spec that puts a slow or greedy expression into its metric."""
    return count_over(secs, metric="session_count")


def store(watch: Watch) -> None:
    """Stores nine events of two minutes ago."""
    moment = (now() - timedelta(seconds=120)).isoformat()
    lines = [
        msgspec.json.encode({"timestamp": moment, "session_id": f"s_{n}", "type": "tool_use"})
        for n in range(9)
    ]
    store_events(watch.runtime.clickhouse, watch.org.id, lines)


def errors(watch: Watch, rules: Sequence[UUID]) -> list[str | None]:
    return [watch.state(rule)["last_error"] for rule in rules]


@pytest.fixture
def slow(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits a statement to a second; `too_much` takes longer."""
    hurry_sleepers(runtime.clickhouse, monkeypatch)
    metric = metric_threshold._Metric(*_SLOW)
    monkeypatch.setitem(metric_threshold._METRICS, "session_count", metric)


@pytest.fixture
def greedy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits a statement to 24 MB; `too_much` takes more."""
    monkeypatch.setitem(aggregates.SETTINGS, "max_memory_usage", 24_000_000)
    metric = metric_threshold._Metric(*_GREEDY)
    monkeypatch.setitem(metric_threshold._METRICS, "session_count", metric)


def test_rules_that_did_not_fit_into_a_turn_have_the_next_one_and_others_theirs_between(
    watch: Watch, other: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aggregates, "TURN_SECS", 0.0)
    rules = {
        one: [one.rule(trigger_spec=count_over(secs)) for secs in (60, 7200, 30 * 86_400)]
        for one in (watch, other)
    }
    counting = Counting()
    assert watch.run(counting) == 6
    served = []
    for one, made in rules.items():
        assert errors(one, made) == [None] * 3
        assert [one.state(rule)["recent"] for rule in made] == [[False]] * 3
        served += [(one.state(rule)["last_attempted_at"], one.org.slug) for rule in made]
    orgs = [slug for _, slug in sorted(served)]
    assert orgs[:2] == orgs[2:4] == orgs[4:]
    assert orgs[0] != orgs[1]
    # Each turn tries all remaining rules once and judges one more.
    assert [len(asked) for asked in counting.asked] == [3, 3, 2, 2, 1, 1]


def test_rules_none_of_which_is_judged_wait_for_their_next_time(watch: Watch) -> None:
    rules = [watch.rule() for _ in range(2)]

    def forget(_context: RuleContext, _rules: Sequence[Rule]) -> Mapping[UUID, Outcome]:
        return {}

    assert watch.run(forget) == 2
    assert errors(watch, rules) == ["internal error"] * 2


def test_skipped_rules_stay_due(watch: Watch) -> None:
    rules = [watch.rule() for _ in range(2)]
    due_at = watch.state(rules[1])["due_at"]
    asked = 0

    def only_first(_context: RuleContext, due: Sequence[Rule]) -> Mapping[UUID, Outcome]:
        nonlocal asked
        asked += 1
        if asked == 2:
            assert watch.state(rules[1])["due_at"] == due_at
            assert watch.state(rules[1])["last_attempted_at"] is None
        return {due[0].alert_id: reading(False)}

    assert watch.run(only_first) == 2
    assert asked == 2
    assert errors(watch, rules) == [None, None]


@pytest.mark.usefixtures("slow")
def test_rules_that_take_too_long_together_are_tried_alone(watch: Watch) -> None:
    store(watch)
    specs = [count_over(60), too_much(), count_over(300)]
    rules = [watch.rule(trigger_spec=spec) for spec in specs]
    counting = Counting()
    assert watch.run(counting) == 3
    assert errors(watch, rules) == [None, _OVER_TIME, None]
    assert [row["alert_id"] for row in watch.incidents()] == [rules[2]]
    assert counting.asked == [rules, *([rule] for rule in rules)]


@pytest.mark.usefixtures("slow")
def test_rules_not_tried_alone_in_time_stay_due(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(watch)
    rules = [watch.rule(trigger_spec=spec) for spec in (too_much(), count_over(300))]
    monkeypatch.setattr(evaluating, "ALONE_SECS", 0.0)
    counting = Counting()
    assert watch.run(counting) == 2
    assert errors(watch, rules) == [_OVER_TIME, None]
    assert counting.asked == [rules, rules[:1], rules[1:]]


@pytest.mark.usefixtures("slow")
def test_a_rule_that_has_its_statement_to_itself_leaves_the_others_together(watch: Watch) -> None:
    store(watch)
    specs = [too_much(7200), count_over(60), count_over(300)]
    rules = [watch.rule(trigger_spec=spec) for spec in specs]
    counting = Counting()
    assert watch.run(counting) == 3
    assert errors(watch, rules) == [_OVER_TIME, None, None]
    assert counting.asked == [rules]


@pytest.mark.usefixtures("greedy")
def test_a_rule_over_its_memory_says_so_and_keeps_no_other(watch: Watch) -> None:
    store(watch)
    specs = [count_over(60), too_much(), count_over(300)]
    rules = [watch.rule(trigger_spec=spec) for spec in specs]
    assert watch.run() == 3
    assert errors(watch, rules) == [None, _OVER_MEMORY, None]
    assert watch.state(rules[1])["due_at"] > now()
    assert [row["alert_id"] for row in watch.incidents()] == [rules[2]]
