"""Metrics of costs and tokens, and filters by dimensions."""

from typing import Any

import pytest

from shared.watch.alerts.evaluation.triggers.interface import RuleContext
from shared.watch.alerts.specs import EventFilter, Metric, MetricThreshold
from tests.shared.watch.alerts.evaluation.triggers.conftest import reading_of
from tests.support.events import event, store_events


def spec(metric: Metric, **fields: Any) -> MetricThreshold:
    named = EventFilter(**fields)
    return MetricThreshold(metric=metric, op=">", value=0, window_secs=300, filter=named)


def call(session_id: str, ts: str, cost: str | None = None, **fields: Any) -> bytes:
    priced = {"cost_source": "unpriced"} if cost is None else {"cost_usd": cost}
    given = {"cost_source": "computed", **priced, **fields}
    return event(session_id, ts, "model_response", **given)


def store(context: RuleContext, *lines: bytes) -> None:
    store_events(context.runtime.clickhouse, context.org_id, lines)


def test_costs_are_sums_of_decimals(context: RuleContext) -> None:
    lines = [call(f"s{number % 2}", f"11:58:{number:02}", "0.1") for number in range(10)]
    unpriced = call("s2", "11:58:30")
    store(context, *lines, unpriced, event("s3", "11:58:40", "model_response"))
    values = {
        metric: reading_of(context, spec(metric)).value
        for metric in ("cost_sum", "cost_per_session", "unpriced_calls", "model_call_count")
    }
    assert values == {
        "cost_sum": 1.0,
        "cost_per_session": 0.5,
        "unpriced_calls": 1,
        "model_call_count": 11,
    }


def test_a_cost_a_session_needs_a_session_with_a_cost(context: RuleContext) -> None:
    store(context, call("s", "11:58:00"))
    assert reading_of(context, spec("cost_per_session")).value is None
    assert reading_of(context, spec("cost_sum")).value == 0
    assert reading_of(context, spec("cost_sum")).summary.endswith(
        "cost_sum was $0.00 over the last 300 s (> $0.00)"
    )


def test_the_dearest_calls_are_shown(context: RuleContext) -> None:
    costs = ["0.5", "2", "1"]
    lines = [call(f"s{at}", f"11:58:0{at}", cost) for at, cost in enumerate(costs)]
    store(context, *lines)
    evidence = reading_of(context, spec("cost_sum")).evidence
    assert evidence["session_ids"] == ["s1", "s2", "s0"]


def test_a_class_of_tokens_has_its_own_sum(context: RuleContext) -> None:
    store(context, call("s", "11:58:00", input_tokens=7, output_tokens=5, cache_read_tokens=3))
    assert reading_of(context, spec("input_token_sum")).value == 7
    assert reading_of(context, spec("output_token_sum")).value == 5
    assert reading_of(context, spec("cache_read_token_sum")).value == 3
    assert reading_of(context, spec("reasoning_token_sum")).value == 0


@pytest.mark.parametrize(
    ("fields", "calls"),
    [
        ({"user_id": "zoe"}, 2),
        ({"user_id": "max"}, 1),
        ({"agent_version": "2"}, 2),
        ({"tag": "beta"}, 1),
        ({"attributes": {"plan": "gold"}}, 1),
        ({"attributes": {"plan": "gold", "region": "eu"}}, 0),
        ({"user_id": "zoe", "tag": "beta"}, 1),
    ],
)
def test_dimensions_filter_with_the_effective_user_and_version(
    context: RuleContext, fields: dict[str, Any], calls: int
) -> None:
    store(
        context,
        event("s", "11:50:00", user_id="zoe", agent_version="2"),
        call("s", "11:58:00", "1", tags=["beta"], attributes={"plan": "gold"}),
        call("s", "11:58:01", "1"),
        call("s", "11:58:02", "1", user_id="max", agent_version="1"),
    )
    reading = reading_of(context, spec("model_call_count", **fields))
    assert reading.value == calls


def test_the_evidence_names_the_filter(context: RuleContext) -> None:
    store(context, call("s", "11:58:00", "1", user_id="zoe", attributes={"plan": "gold"}))
    wanted = spec("cost_sum", user_id="zoe", attributes={"plan": "gold"})
    shown = reading_of(context, wanted).evidence["filter"]
    assert shown == {"user_id": "zoe", "attr.plan": "gold"}
