"""Previews of rules: their spans, and the incidents of a replay beside those of a worker."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.foundation.core.errors import Invalid, QueryTimeout, RateLimited
from shared.foundation.queue.slots import QuerySlots
from shared.reading.queries.run import QueryRunner
from shared.watch.alerts.evaluation import claims
from shared.watch.alerts.evaluation import preview as replaying
from shared.watch.alerts.evaluation.breaches import Terms
from shared.watch.alerts.evaluation.preview import PLACES, RuleDraft, preview
from shared.watch.alerts.evaluation.replaying import Point, ReplayedIncident, incidents_of
from shared.watch.alerts.evaluation.triggers import series
from shared.watch.alerts.evaluation.triggers.interface import NotEvaluated, RuleContext, RuleOutcome
from tests.support.alerting import Watch, reading
from tests.support.events import event, store_events

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ERRORS = {"metric": "error_count", "op": ">", "value": 0, "window_secs": 60}
DRAFT = RuleDraft(
    trigger_kind="metric_threshold",
    trigger_spec=ERRORS,
    min_breaches=1,
    eval_window=1,
    eval_interval_secs=60,
    ts_from=NOON,
    ts_to=NOON + 20 * MINUTE,
)
# The minutes after noon with an error.
PLANTED = (1, 2, 4, 9, 10, 11, 12, 16)


@pytest.fixture
def context(watch: Watch) -> Iterator[RuleContext]:
    runner = QueryRunner(watch.runtime, pool_size=1)
    yield RuleContext(watch.runtime, runner, watch.org.id)
    runner.close()


def plant(watch: Watch) -> None:
    """Stores an event of every minute; those of some minutes are errors."""
    kinds = {minute: "error" if minute in PLANTED else "tool_use" for minute in range(20)}
    lines = [event("s", f"12:{minute:02}:30", kind) for minute, kind in kinds.items()]
    store_events(watch.runtime.clickhouse, watch.org.id, lines)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"eval_window": 2, "min_breaches": 2},
        {"eval_window": 3, "min_breaches": 2, "auto_resolve": True},
        {"auto_resolve": True},
        {"eval_window": 4, "auto_resolve": True},
        {"eval_window": 5, "min_breaches": 4, "auto_resolve": True},
    ],
)
def test_a_replay_has_the_incidents_that_a_worker_opens(
    watch: Watch, context: RuleContext, monkeypatch: pytest.MonkeyPatch, fields: Mapping[str, Any]
) -> None:
    plant(watch)
    schedule = dict(fields)
    spec = {**ERRORS, "auto_resolve": schedule.pop("auto_resolve", False)}
    made = preview(context, replace(DRAFT, trigger_spec=spec, **schedule), schema="x")
    assert [point.ts for point in made.points] == [NOON + n * MINUTE for n in range(1, 21)]

    rule = watch.rule(trigger_spec=spec, **schedule)
    for point in made.points:
        monkeypatch.setattr(claims, "stored_until_each", lambda *_args, at=point.ts: [at])
        watch.sql("UPDATE alert_states SET due_at = now() WHERE org_id = :org_id")
        assert watch.run() == 1
        assert not isinstance(point.outcome, NotEvaluated)
        assert watch.state(rule)["recent"][-1] is point.outcome.breached
        # The incidents of the preview as they were at that moment.
        opened = [one for one in made.incidents if one.opened_at <= point.ts]
        resolved = [one for one in opened if one.resolved_at and one.resolved_at <= point.ts]
        states = [row["state"] for row in watch.incidents()]
        assert len(states) == len(opened)
        assert states.count("resolved") == len(resolved)
    assert sum(one.breaches for one in made.incidents) == sum(
        row["detail"].get("count", 1)
        for row in watch.sql(
            "SELECT detail FROM incident_activity WHERE org_id = :org_id"
            " AND kind IN ('opened', 'breached')"
        )
    )


def test_evaluations_that_failed_are_neither_breaches_nor_clean() -> None:
    outcomes: list[RuleOutcome] = [
        reading(True),
        NotEvaluated("down"),
        reading(True),
        reading(False),
        reading(False),
    ]
    points = [Point(NOON + n * MINUTE, outcome) for n, outcome in enumerate(outcomes)]
    assert incidents_of(points, Terms(2, 2, auto_resolve=True)) == [
        ReplayedIncident(NOON + 2 * MINUTE, NOON + 4 * MINUTE)
    ]


@pytest.mark.parametrize(
    ("changed", "step_secs", "points"),
    [
        ({}, 60, 20),
        ({"eval_interval_secs": 7 * 60}, 420, 2),
        ({"eval_interval_secs": 3600}, 3600, 1),
        ({"ts_from": NOON - timedelta(days=7) + 20 * MINUTE}, 1800, 336),
        ({"ts_from": NOON - timedelta(days=29)}, 7461, 335),
        ({"ts_from": NOON + 20 * MINUTE - timedelta(seconds=1)}, 60, 1),
    ],
)
def test_windows_end_at_the_end_of_the_span_and_before_it(
    context: RuleContext, changed: Mapping[str, Any], step_secs: int, points: int
) -> None:
    made = preview(context, replace(DRAFT, **changed), schema="x")
    ends = [point.ts for point in made.points]
    assert (made.span.step_secs, len(ends)) == (step_secs, points)
    assert ends == [made.span.ts_to - n * timedelta(seconds=step_secs) for n in range(points)][::-1]
    assert ends[0] > made.span.ts_from or points == 1


def test_the_span_ends_with_the_stored_events(
    context: RuleContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replaying, "stored_until_each", lambda *_args: [NOON])
    week = timedelta(days=7)
    made = preview(context, replace(DRAFT, ts_from=None, ts_to=None), schema="x")
    assert (made.span.ts_from, made.span.ts_to) == (NOON - week, NOON)
    made = preview(context, replace(DRAFT, ts_from=NOON - MINUTE), schema="x")
    assert made.span.ts_to == NOON


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"ts_from": NOON + 20 * MINUTE}, "from"),
        ({"ts_from": NOON - timedelta(days=30)}, "from"),
        ({"ts_from": datetime(2999, 1, 1, tzinfo=UTC), "ts_to": None}, "from"),
        ({"eval_interval_secs": 29}, "eval_interval_secs"),
        ({"min_breaches": 2}, "min_breaches"),
        ({"eval_window": 101}, "eval_window"),
        ({"trigger_kind": "nothing"}, "trigger_kind"),
        ({"trigger_spec": {}}, "trigger_spec.metric"),
    ],
)
def test_a_draft_is_checked_as_a_rule_is(
    context: RuleContext, changed: Mapping[str, Any], field: str
) -> None:
    with pytest.raises(Invalid) as refused:
        preview(context, replace(DRAFT, **changed), schema="x")
    assert list(refused.value.fields) == [field]


def test_sql_is_evaluated_for_now_only(watch: Watch, context: RuleContext) -> None:
    schema = context.runner.schema
    plant(watch)
    spec = {"sql": "SELECT count() AS metric_value FROM events", "op": "gte", "value": 20}
    made = preview(
        context, replace(DRAFT, trigger_kind="custom_sql", trigger_spec=spec), schema=schema
    )
    [point] = made.points
    assert not isinstance(point.outcome, NotEvaluated)
    assert (point.outcome.value, point.outcome.breached, made.limit) == (20, True, (">=", 20))
    assert made.reason == "SQL names its own window, so it was only evaluated for now"
    broken = {"sql": "SELECT 'text' FROM events LIMIT 1", "op": "gte", "value": 20}
    made = preview(
        context, replace(DRAFT, trigger_kind="custom_sql", trigger_spec=broken), schema=schema
    )
    assert isinstance(made.points[0].outcome, NotEvaluated)
    assert "no column of the result is a number" in str(made.reason)
    assert made.incidents == []


def test_an_organization_runs_two_at_once(watch: Watch, context: RuleContext) -> None:
    slots = QuerySlots(watch.runtime.redis, watch.runtime.clickhouse, PLACES)
    with slots.hold(watch.org.id):
        preview(context, DRAFT, schema="x")
        with slots.hold(watch.org.id), pytest.raises(RateLimited):
            preview(context, DRAFT, schema="x")


@pytest.mark.parametrize("limit", [{"max_execution_time": 0.001}, {"max_memory_usage": 1}])
def test_a_statement_that_takes_too_much_is_given_up(
    watch: Watch, context: RuleContext, monkeypatch: pytest.MonkeyPatch, limit: Mapping[str, float]
) -> None:
    plant(watch)
    monkeypatch.setattr(series, "SETTINGS", {**series.SETTINGS, **limit})
    with pytest.raises(QueryTimeout, match="choose a shorter span"):
        preview(context, DRAFT, schema="x")
