"""Previews of rules with groups and of budgets beside what a worker does."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.foundation.deployment.runtime import Runtime
from shared.reading.queries.run import QueryRunner
from shared.watch.alerts.evaluation import claims
from shared.watch.alerts.evaluation.preview import Preview, RuleDraft, preview
from shared.watch.alerts.evaluation.replaying import ReplayedIncident
from shared.watch.alerts.evaluation.triggers.interface import RuleContext, RuleReading
from tests.support.alerting import Watch
from tests.support.events import event, store_events

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
ERRORS = {
    "metric": "error_count",
    "op": ">=",
    "value": 2,
    "window_secs": 120,
    "group_by": "user_id",
    "auto_resolve": True,
}


@pytest.fixture
def context(runtime: Runtime, watch: Watch) -> Iterator[RuleContext]:
    runner = QueryRunner(runtime, pool_size=1)
    yield RuleContext(runtime, runner, watch.org.id)
    runner.close()


def store(watch: Watch, *lines: bytes) -> None:
    store_events(watch.runtime.clickhouse, watch.org.id, lines)


def call(number: int, moment: datetime, cost: str, **fields: Any) -> bytes:
    given = {"cost_usd": cost, "cost_source": "computed", **fields}
    line = event(f"s{number}", "00:00:00", "model_response", **given)
    return line.replace(b"2026-11-02T00:00:00Z", f"{moment:%Y-%m-%dT%H:%M:%SZ}".encode())


def replayed(
    context: RuleContext, kind: str, spec: dict[str, Any], step: timedelta, count: int, **more: Any
) -> Preview:
    secs = int(step.total_seconds())
    draft = RuleDraft(kind, spec, 1, 1, secs, NOON, NOON + count * step)
    return preview(context, draft, schema="x", **more)


def worked(
    watch: Watch,
    monkeypatch: pytest.MonkeyPatch,
    made: Preview,
    kind: str,
    spec: dict[str, Any],
    lines: Mapping[datetime, bytes] | None = None,
) -> list[tuple[str, datetime | None]]:
    """Lets a worker evaluate at the moments of a preview; returns the group and end of incidents.

    The end is the moment of the evaluation. `lines` are stored when it is their time.
    """
    waiting = dict(lines or {})
    watch.rule(kind, trigger_spec=spec)
    ends: dict[Any, datetime | None] = {}
    for moment in made.span.ends():
        store(watch, *(waiting.pop(ts) for ts in sorted(waiting) if ts < moment))
        monkeypatch.setattr(claims, "stored_until_each", lambda *_args, at=moment: [at])
        watch.sql(
            "UPDATE alert_states SET due_at = now(), evaluated_to = NULL WHERE org_id = :org_id"
        )
        assert watch.run() == 1
        for row in watch.incidents():
            is_open = row["state"] != "resolved"
            ends.setdefault(row["id"], None)
            if not is_open and ends[row["id"]] is None:
                ends[row["id"]] = moment
    found = [
        (next(iter((row["breach_group"] or {"": ""}).values())) or "", ends[row["id"]])
        for row in watch.incidents()
    ]
    return sorted(found, key=str)


def test_groups_are_replayed_as_a_worker_evaluates_them(
    watch: Watch, context: RuleContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = {"zoe": (1, 1, 2, 6, 7), "max": (3, 4), "kim": (1, 5), "": (2, 2)}
    lines = [
        event(
            f"{user} {place}",
            f"12:0{minute}:30",
            "error",
            **({"user_id": user} if user else {}),
        )
        for user, minutes in at.items()
        for place, minute in enumerate(minutes)
    ]
    store(watch, *lines, event("quiet", "12:03:00", user_id="ann"))
    made = replayed(context, "metric_threshold", ERRORS, MINUTE, 10)
    assert made.groups is not None
    assert made.group_by == "user_id"
    assert next(iter(made.groups)) == "zoe"
    expected = [
        (group, incident.resolved_at)
        for group, replay in made.groups.items()
        for incident in replay.incidents
    ]
    assert sorted(expected, key=str) == worked(watch, monkeypatch, made, "metric_threshold", ERRORS)
    [alone] = [replayed(context, "metric_threshold", ERRORS, MINUTE, 10, only="zoe")]
    assert (alone.points, alone.incidents) == made.groups["zoe"]


def test_the_ten_groups_with_most_breaches_are_shown(watch: Watch, context: RuleContext) -> None:
    lines = [
        event(f"s{user} {minute}", f"12:{minute:02}:30", "error", user_id=f"u{user:02}")
        for user in range(15)
        for minute in range(user + 1)
    ]
    store(watch, *lines)
    spec = {**ERRORS, "value": 1, "window_secs": 60}
    made = replayed(context, "metric_threshold", spec, MINUTE, 20)
    assert made.groups is not None
    assert list(made.groups) == [f"u{user:02}" for user in range(14, 4, -1)]


def test_a_budget_is_replayed_as_a_worker_evaluates_it(
    watch: Watch, other: Watch, context: RuleContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = {"amount_usd": 50, "period": "day", "tz": "Europe/Berlin", "levels": [50, 100]}
    lines = {
        NOON + number * HOUR / 2: call(
            number, NOON + number * HOUR / 2, "4.5", user_id=("zoe", "max")[number % 3 == 0]
        )
        for number in range(60)
    }
    store(watch, *lines.values())
    grouped = {**spec, "group_by": "user_id"}
    made = replayed(context, "budget", grouped, HOUR, 30)
    assert made.groups is not None
    assert list(made.groups) == ["zoe", "max"]
    values = [
        point.outcome.value
        for point in made.groups["zoe"].points
        if isinstance(point.outcome, RuleReading)
    ]
    midnight = 10
    # The day of Berlin ends at 23:00.
    assert values[midnight] == 0
    assert values[midnight - 1] == 58.5
    assert made.limit is not None
    assert made.limit.bound == 50
    found = worked(other, monkeypatch, made, "budget", grouped, lines)
    ends = [
        (group, one.resolved_at)
        for group, replay in made.groups.items()
        for one in replay.incidents
    ]
    assert sorted(ends, key=str) == found
    told = other.sql(
        "SELECT detail FROM incident_activity WHERE org_id = :org_id"
        " AND kind IN ('opened', 'breached')"
    )
    assert sum(row["detail"].get("count", 1) for row in told) == sum(
        one.breaches for replay in made.groups.values() for one in replay.incidents
    )


def test_a_budget_without_groups_is_replayed_as_one(watch: Watch, context: RuleContext) -> None:
    store(watch, call(1, NOON, "30"), call(2, NOON + HOUR, "30"))
    spec = {"amount_usd": 50, "period": "day", "levels": [50, 100], "forecast": False}
    made = replayed(context, "budget", spec, HOUR, 3)
    assert made.groups is None
    assert [point.outcome.breached for point in made.points] == [False, True, True]  # type: ignore[union-attr]
    assert made.incidents == [ReplayedIncident(NOON + HOUR, None, 2)]
