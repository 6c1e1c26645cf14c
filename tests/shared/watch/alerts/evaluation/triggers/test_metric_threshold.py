"""Metrics of events; tests/reading/test_alert_metrics.py uses the airline recording."""

from typing import Any

import pytest

from shared.foundation.core.text import figure
from shared.watch.alerts.evaluation.triggers.interface import RuleContext
from shared.watch.alerts.specs import EventFilter, Metric, MetricThreshold, Op
from tests.shared.watch.alerts.evaluation.triggers.conftest import reading_of
from tests.support.events import event, store_events


def spec(metric: Metric, op: Op, value: float, **fields: Any) -> MetricThreshold:
    named = EventFilter(**fields)
    return MetricThreshold(metric=metric, op=op, value=value, window_secs=300, filter=named)


@pytest.mark.parametrize(
    ("op", "breaching"),
    [
        (">", {1}),
        ("gt", {1}),
        (">=", {1, 2}),
        ("gte", {1, 2}),
        ("<", {3}),
        ("lt", {3}),
        ("<=", {2, 3}),
        ("lte", {2, 3}),
        ("==", {2}),
        ("eq", {2}),
    ],
)
def test_the_metric_is_compared_with_the_operator(
    context: RuleContext, op: Op, breaching: set[int]
) -> None:
    lines = [event("s", "11:58:00"), event("s", "11:59:00")]
    store_events(context.runtime.clickhouse, context.org_id, lines)
    readings = {bound: reading_of(context, spec("event_count", op, bound)) for bound in (1, 2, 3)}
    assert {bound for bound, one in readings.items() if one.breached} == breaching


@pytest.mark.parametrize("metric", ["error_rate", "p95_latency_ms", "p99_latency_ms"])
def test_a_metric_without_events_has_no_value_and_is_clean(
    context: RuleContext, metric: Metric
) -> None:
    reading = reading_of(context, spec(metric, "<", 1000))
    assert (reading.value, reading.breached) == (None, False)
    assert (
        reading.summary == f"{metric} had no value over the last 300 s (< {figure(metric, 1000)})"
    )


@pytest.mark.parametrize("metric", ["event_count", "error_count", "token_sum", "session_count"])
def test_no_events_are_a_count_of_zero_which_may_breach(
    context: RuleContext, metric: Metric
) -> None:
    reading = reading_of(context, spec(metric, "<", 1))
    assert (reading.value, reading.breached) == (0, True)
    assert (reading.evidence["event_ids"], reading.evidence["session_ids"]) == ([], [])


def test_an_event_that_was_stored_again_counts_once(context: RuleContext) -> None:
    lines = [event("s", "11:59:00", "model_response", input_tokens=7, output_tokens=5)]
    for _ in range(2):
        store_events(context.runtime.clickhouse, context.org_id, lines)
    assert reading_of(context, spec("token_sum", ">", 0)).value == 12
    assert reading_of(context, spec("event_count", ">", 0)).value == 1


def test_the_events_with_the_most_tokens_are_shown(context: RuleContext) -> None:
    lines = [
        event(f"s{number}", f"11:58:{number:02}", "model_response", input_tokens=number % 7 * 10)
        for number in range(12)
    ]
    stored = store_events(context.runtime.clickhouse, context.org_id, lines)
    evidence = reading_of(context, spec("token_sum", ">", 0)).evidence
    assert evidence["session_ids"][:2] == ["s6", "s5"]
    assert evidence["event_ids"][0] == stored[6].event_id
    assert len(evidence["event_ids"]) == 10


def test_sums_are_not_cut_to_32_bits(context: RuleContext) -> None:
    most = 2**32 - 1
    lines = [
        event("s", f"11:58:0{number}", "model_response", input_tokens=most, output_tokens=most)
        for number in range(3)
    ]
    store_events(context.runtime.clickhouse, context.org_id, lines)
    assert reading_of(context, spec("token_sum", ">", 0)).value == 6 * most
