"""Previews over the airline recording, compared with one evaluation after the other."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, get_args
from uuid import uuid4

import pytest

from shared.foundation.deployment.runtime import Runtime
from shared.reading.evaluations import store
from shared.reading.queries.run import QueryRunner
from shared.watch.alerts.evaluation.preview import Preview, RuleDraft, preview
from shared.watch.alerts.evaluation.triggers.batch import evaluate
from shared.watch.alerts.evaluation.triggers.interface import (
    Outcome,
    Rule,
    RuleContext,
    RuleReading,
)
from shared.watch.alerts.specs import Metric, spec_of
from tests.reading.conftest import NEWEST, AirlineOrg
from tests.reading.scores import results_of
from tests.support.runtime import Org, make_org

HOUR, DAY = 3600, 86_400


@pytest.fixture(scope="module")
def org(runtime: Runtime, airline_org: AirlineOrg) -> Org:
    """The organization of the recording, with results of its sessions."""
    store.insert(runtime.clickhouse, results_of(airline_org.recording, airline_org.org.id))
    return airline_org.org


@pytest.fixture(scope="module")
def context(runtime: Runtime, org: Org) -> Iterator[RuleContext]:
    runner = QueryRunner(runtime, pool_size=1)
    yield RuleContext(runtime, runner, org.id)
    runner.close()


def replayed(context: RuleContext, kind: str, spec: dict[str, Any], **changed: Any) -> Preview:
    """Previews a rule over the recording: 46 windows half an hour apart, unless changed."""
    draft = RuleDraft(
        trigger_kind=kind,
        trigger_spec=spec,
        min_breaches=1,
        eval_window=1,
        eval_interval_secs=HOUR // 2,
        ts_from=NEWEST - timedelta(hours=23),
        ts_to=NEWEST + timedelta(minutes=7, microseconds=1),
    )
    return preview(context, replace(draft, **changed), schema="x")


def evaluated(
    context: RuleContext, kind: str, spec: dict[str, Any], made: Preview
) -> list[Outcome]:
    """Evaluates the rule at the end of each window, as a worker would."""
    step = timedelta(seconds=made.span.step_secs)
    rules = [
        Rule(uuid4(), spec_of(kind, spec), since=point.ts - step, until=point.ts)
        for point in made.points
    ]
    found = evaluate(context, rules)
    return [found[rule.alert_id] for rule in rules]


def told(outcomes: Sequence[Outcome]) -> list[tuple[float | None, bool | None]]:
    return [
        (one.value, one.breached) if isinstance(one, RuleReading) else (None, None)
        for one in outcomes
    ]


def threshold(metric: str, window_secs: int, **named: str) -> dict[str, Any]:
    values = {"metric": metric, "op": ">", "value": 0.1, "window_secs": window_secs}
    return {**values, "filter": named}


def score(key: str, value: float, **fields: Any) -> dict[str, Any]:
    return {"score_key": key, "op": "<", "value": value, **fields}


CASES = [
    *(("metric_threshold", threshold(metric, HOUR)) for metric in get_args(Metric)),
    ("metric_threshold", threshold("event_count", 60)),
    ("metric_threshold", threshold("event_count", 1801, environment="staging")),
    ("metric_threshold", threshold("session_count", DAY)),
    ("metric_threshold", threshold("p95_latency_ms", 30 * DAY)),
    ("metric_threshold", threshold("error_rate", 7000, event_type="tool_result")),
    ("metric_threshold", threshold("event_count", HOUR, tool_name="it's \\ {nowhere:String}")),
    ("evaluation_score", score("success", 0.5, window_secs=HOUR)),
    ("evaluation_score", score("cost, total", 3.0, window_secs=7000, min_count=5)),
    ("evaluation_score", score("nothing", 3.0, window_secs=DAY)),
    (
        "eval_compound",
        {
            "combinator": {"at_least": 2},
            "conditions": [score("success", 0.6), score("tools", 4), score("größe", 1e300)],
            "window_secs": 2 * HOUR,
            "min_count": 3,
        },
    ),
    ("per_event", {"event_type": "error", "lookback_secs": 60}),
    ("per_event", {"event_type": "tool_use", "lookback_secs": HOUR, "tool_name": "calculate"}),
    (
        "per_event",
        {"event_type": "tool_result", "lookback_secs": 300, "message_contains": "ERROR"},
    ),
]


@pytest.mark.parametrize(("kind", "spec"), CASES)
def test_each_point_is_what_the_evaluation_finds(
    context: RuleContext, kind: str, spec: dict[str, Any]
) -> None:
    made = replayed(context, kind, spec)
    assert len(made.points) == 46
    expected = told(evaluated(context, kind, spec, made))
    found = told([point.outcome for point in made.points])
    assert [breached for _, breached in found] == [breached for _, breached in expected]
    assert [value for value, _ in found] == pytest.approx([value for value, _ in expected])


def test_cases_tell_windows_apart(context: RuleContext) -> None:
    """The comparison above would prove nothing if all windows had the same value."""
    differing = 0
    for kind, spec in CASES:
        points = replayed(context, kind, spec).points
        differing += len(set(told([point.outcome for point in points]))) > 3
    assert differing > len(CASES) * 0.6


def test_windows_that_share_no_rows(context: RuleContext) -> None:
    spec = threshold("event_count", 60)
    made = replayed(context, "metric_threshold", spec, eval_interval_secs=DAY // 3)
    assert len(made.points) == 2
    found = [point.outcome for point in made.points]
    assert told(found) == told(evaluated(context, "metric_threshold", spec, made))


def test_another_organization_sees_none_of_it(context: RuleContext, runtime: Runtime) -> None:
    other = RuleContext(runtime, context.runner, make_org(runtime).id)
    made = replayed(other, "metric_threshold", threshold("event_count", DAY))
    assert told([point.outcome for point in made.points]) == [(0.0, False)] * 46
    made = replayed(other, "evaluation_score", score("success", 1, window_secs=DAY))
    assert told([point.outcome for point in made.points]) == [(None, None)] * 46
