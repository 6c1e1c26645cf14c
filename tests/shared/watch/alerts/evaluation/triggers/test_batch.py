"""Rules of all kinds evaluated together, in few statements."""

from collections.abc import Mapping
from datetime import timedelta
from uuid import UUID

import msgspec
import pytest

from shared.foundation.core.clock import to_us
from shared.foundation.core.errors import Unavailable
from shared.reading.evaluations import store
from shared.watch.alerts.evaluation.triggers import aggregates, metric_threshold
from shared.watch.alerts.evaluation.triggers.aggregates import MAX_AGGREGATES
from shared.watch.alerts.evaluation.triggers.batch import evaluate
from shared.watch.alerts.evaluation.triggers.interface import (
    NotEvaluated,
    Outcome,
    Rule,
    RuleContext,
    RuleReading,
)
from shared.watch.alerts.evidence import (
    CompoundEvidence,
    EventEvidence,
    ScoreEvidence,
    SqlEvidence,
)
from shared.watch.alerts.specs import (
    CustomSql,
    EvalCompound,
    EvaluationScore,
    MetricThreshold,
    PerEvent,
    ScoreCondition,
)
from tests.shared.watch.alerts.evaluation.triggers.conftest import NOON, rule
from tests.support.alerting import hurry_sleepers
from tests.support.evaluations import evaluation
from tests.support.events import event, store_events
from tests.support.runtime import connected


def count_over(secs: int) -> MetricThreshold:
    return MetricThreshold(metric="event_count", op=">", value=2, window_secs=secs)


class Counting:
    """A ClickHouse client that counts its statements."""

    def __init__(self, context: RuleContext, monkeypatch: pytest.MonkeyPatch) -> None:
        self.statements: list[str] = []
        rows = context.runtime.clickhouse.rows

        def counted(sql: str, *args: object, **kwargs: object) -> object:
            self.statements.append(sql)
            return rows(sql, *args, **kwargs)  # type: ignore[arg-type] # passed on unchanged

        monkeypatch.setattr(context.runtime.clickhouse, "rows", counted)


@pytest.fixture
def counting(context: RuleContext, monkeypatch: pytest.MonkeyPatch) -> Counting:
    return Counting(context, monkeypatch)


def test_all_kinds_are_evaluated_together(context: RuleContext) -> None:
    lines = [event("s", "11:59:00", "error", message="stop"), event("s", "11:50:00")]
    store_events(context.runtime.clickhouse, context.org_id, lines)
    at = to_us(NOON) - 1
    rows = [evaluation(context.org_id, "s", at, scores={"x": 0.25})]
    store.insert(context.runtime.clickhouse, rows)
    specs = [
        MetricThreshold(metric="error_rate", op=">", value=0.1, window_secs=3600),
        EvaluationScore(score_key="x", op="<", value=0.5, window_secs=60),
        EvalCompound(
            combinator="all", conditions=(ScoreCondition(score_key="x", op="<", value=0.2),)
        ),
        PerEvent(event_type="error", lookback_secs=60, message_contains="STOP"),
        CustomSql(sql="SELECT count() AS metric_value FROM events", op="==", value=2),
    ]
    rules = [rule(spec) for spec in specs]
    outcomes = evaluate(context, rules)
    readings = [outcomes[one.alert_id] for one in rules]
    assert [one.value for one in readings if isinstance(one, RuleReading)] == [0.5, 0.25, 0, 1, 2]
    breached = [one.breached for one in readings if isinstance(one, RuleReading)]
    assert breached == [True, True, False, True, True]
    shapes = (EventEvidence, ScoreEvidence, CompoundEvidence, EventEvidence, SqlEvidence)
    for one, shape in zip(readings, shapes, strict=True):
        assert isinstance(one, RuleReading)
        # The shape has every field, and no other one.
        encoded = msgspec.json.encode(one.evidence)
        assert msgspec.json.decode(encoded, type=shape) == one.evidence


def test_no_rules_are_no_statement(context: RuleContext, counting: Counting) -> None:
    assert evaluate(context, []) == {}
    assert counting.statements == []


def test_rules_of_like_windows_share_a_statement(context: RuleContext, counting: Counting) -> None:
    rules = [rule(count_over(secs)) for secs in (60, 300, 600, 30 * 86_400)]
    rules += [rule(PerEvent(event_type=f"t{n}", lookback_secs=60)) for n in range(20)]
    assert len(evaluate(context, rules)) == len(rules)
    # Counts share a statement by window. Rules that name an event type share another one.
    assert len(counting.statements) == 3
    assert not any("payload" in sql or "duration_ms" in sql for sql in counting.statements)


def test_rules_that_ask_for_the_same_have_it_read_once(
    context: RuleContext, counting: Counting
) -> None:
    evaluate(context, [rule(replace_bound(count_over(60), bound)) for bound in range(200)])
    [statement] = counting.statements
    assert statement.count("countIf") == 1


def replace_bound(spec: MetricThreshold, bound: float) -> MetricThreshold:
    return msgspec.structs.replace(spec, value=bound)


def test_a_statement_has_a_bounded_number_of_aggregates(
    context: RuleContext, counting: Counting
) -> None:
    rules = [
        rule(PerEvent(event_type=f"t{number}", lookback_secs=60))
        for number in range(2 * MAX_AGGREGATES + 1)
    ]
    outcomes = evaluate(context, rules)
    assert outcomes.keys() == {one.alert_id for one in rules}
    assert [sql.count("countIf") for sql in counting.statements] == [50, 50, 1]


def test_each_rule_ends_at_its_own_moment(context: RuleContext) -> None:
    lines = [event("s", f"11:5{minute}:00") for minute in range(10)]
    store_events(context.runtime.clickhouse, context.org_id, lines)
    rules = [
        rule(count_over(secs), until=NOON - timedelta(minutes=minutes))
        for minutes in (0, 1, 7)
        for secs in (60, 180, 3600)
    ]
    outcomes = evaluate(context, rules)
    readings = [outcomes[one.alert_id] for one in rules]
    values = [one.value for one in readings if isinstance(one, RuleReading)]
    assert values == [1, 3, 10, 1, 3, 9, 1, 3, 3]


def test_values_are_bound_and_never_spliced(context: RuleContext) -> None:
    odd = "'; ? @ {v0:String} \\ \n`"
    store_events(context.runtime.clickhouse, context.org_id, [event(odd, "11:59:00", odd)])
    specs = [
        PerEvent(event_type=odd, lookback_secs=60),
        PerEvent(event_type=odd, lookback_secs=60, message_contains=odd),
        PerEvent(event_type=odd, lookback_secs=60, agent_id=odd),
        EvaluationScore(score_key=odd, op="<", value=1, window_secs=60, agent_id=odd),
    ]
    at = to_us(NOON) - 1
    rows = [evaluation(context.org_id, odd, at, scores={odd: 0.5}, agent_id=odd)]
    store.insert(context.runtime.clickhouse, rows)
    rules = [rule(spec) for spec in specs]
    outcomes = evaluate(context, rules)
    assert values_of(rules, outcomes) == [1, 0, 0, 0.5]


def values_of(rules: list[Rule], outcomes: Mapping[UUID, Outcome]) -> list[float | None]:
    found = [outcomes[one.alert_id] for one in rules]
    return [one.value for one in found if isinstance(one, RuleReading)]


def test_an_id_that_cannot_be_stored_is_shown_without_what_is_wrong_with_it(
    context: RuleContext,
) -> None:
    lines = [event("a\0b", "11:59:00")]
    store_events(context.runtime.clickhouse, context.org_id, lines)
    one = rule(PerEvent(event_type="tool_use", lookback_secs=60))
    reading = evaluate(context, [one])[one.alert_id]
    assert isinstance(reading, RuleReading)
    assert reading.evidence["session_ids"] == ["a\N{REPLACEMENT CHARACTER}b"]


def test_a_rule_that_takes_too_long_is_not_judged_and_others_are(
    context: RuleContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [event("s", f"11:59:0{second}") for second in range(9)]
    store_events(context.runtime.clickhouse, context.org_id, lines)
    hurry_sleepers(context.runtime.clickhouse, monkeypatch)
    slow = metric_threshold._Metric("sumIf", "sleepEachRow(0.2)")
    monkeypatch.setitem(metric_threshold._METRICS, "session_count", slow)
    wanted = MetricThreshold(metric="session_count", op=">", value=2, window_secs=60)
    rules = [rule(wanted), rule(count_over(3600))]
    outcomes = evaluate(context, rules)
    assert outcomes[rules[0].alert_id] == NotEvaluated("the statement took longer than 10 s")
    assert values_of(rules[1:], outcomes) == [9]


def test_when_the_turn_is_over_the_rest_is_left_for_the_next(
    context: RuleContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aggregates, "TURN_SECS", 0.0)
    # Each rule has its own statement, the first one has two.
    conditions = tuple(
        ScoreCondition(score_key=f"k{number}", op=">", value=1) for number in range(MAX_AGGREGATES)
    )
    rules = [
        rule(EvalCompound(combinator="all", conditions=conditions)),
        rule(count_over(60)),
        rule(count_over(30 * 86_400)),
    ]
    while rules:
        outcomes = evaluate(context, rules)
        assert list(outcomes) == [rules[0].alert_id]
        rules = rules[1:]


def test_a_store_that_is_away_leaves_nothing_evaluated(context: RuleContext) -> None:
    away = "clickhouse://watchpost@127.0.0.1:1/watchpost"
    settings = msgspec.structs.replace(context.runtime.settings, clickhouse_url=away)
    with connected(settings) as runtime:
        cut_off = RuleContext(runtime, context.runner, context.org_id)
        with pytest.raises(Unavailable):
            evaluate(cut_off, [rule(count_over(60))])
