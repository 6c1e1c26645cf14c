"""The ends of windows, and the joined pieces of a window after an outage."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import msgspec
import pytest

from shared.foundation.core.clock import format_us, now, to_us
from shared.watch.alerts.evaluation.claims import ClaimedRule
from shared.watch.alerts.evaluation.triggers.batch import evaluate as by_triggers
from shared.watch.alerts.evaluation.triggers.interface import (
    NotEvaluated,
    Outcome,
    Rule,
    RuleContext,
    RuleReading,
)
from shared.watch.alerts.evaluation.windows import end_of
from tests.support.alerting import INTERVAL_SECS, Watch
from tests.support.alerts import SPECS
from tests.support.events import store_events

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
ANY_ERROR = {"event_type": "error", "lookback_secs": 60}


def claimed(behind_secs: float, *, kind: str = "per_event", **fields: int) -> ClaimedRule:
    """Returns a rule last evaluated this long before noon, every minute, looking back 60 s."""
    since = NOON - timedelta(seconds=behind_secs)
    spec = {**SPECS[kind], "lookback_secs": fields.get("lookback_secs", 60)}
    interval = fields.get("interval_secs", 60)
    return ClaimedRule(uuid4(), 1, kind, spec, 1, 1, interval, since, has_failed=False)


@pytest.mark.parametrize(
    ("rule", "left_secs"),
    [
        (claimed(60), 0),
        (claimed(600), 0),
        (claimed(601), 1),
        (claimed(86_400), 85_800),
        (claimed(86_400, lookback_secs=7200), 79_200),
        (claimed(86_400, interval_secs=3600), 79_200),
        # Smaller pieces after a failure.
        (replace(claimed(86_400), has_failed=True), 86_280),
        (replace(claimed(86_400, lookback_secs=7200), has_failed=True), 79_200),
        (replace(claimed(0), evaluated_to=None), 0),
        # Redis's clock was set back.
        (claimed(-600), 0),
        (claimed(86_400, kind="metric_threshold"), 0),
        (claimed(86_400, kind="evaluation_score"), 0),
    ],
)
def test_a_rule_that_is_behind_looks_at_a_piece(rule: ClaimedRule, left_secs: int) -> None:
    assert (NOON - end_of(rule, NOON)).total_seconds() == left_secs


class Seen:
    """The real evaluation, with its arguments and results recorded."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self.readings: list[RuleReading] = []
        self.fails = False

    def __call__(self, context: RuleContext, rules: Sequence[Rule]) -> Mapping[UUID, Outcome]:
        [rule] = rules
        self.rules.append(rule)
        if self.fails:
            return {rule.alert_id: NotEvaluated("too much")}
        outcomes = by_triggers(context, rules)
        outcome = outcomes[rule.alert_id]
        assert isinstance(outcome, RuleReading)
        self.readings.append(outcome)
        return outcomes


def after_an_outage(watch: Watch, secs: int) -> tuple[UUID, datetime]:
    """A rule that is due, and the moment of its last evaluation before the outage."""
    rule = watch.rule("per_event", trigger_spec=ANY_ERROR)
    since = now() - timedelta(seconds=secs)
    watch.sql("UPDATE alert_states SET evaluated_to = :at WHERE org_id = :org_id", at=since)
    return rule, since


def evaluate(watch: Watch, seen: Seen) -> None:
    watch.sql("UPDATE alert_states SET due_at = now() WHERE org_id = :org_id")
    assert watch.run(seen) == 1


def test_after_an_outage_each_event_is_seen_once_and_no_window_is_longer_than_a_piece(
    watch: Watch,
) -> None:
    rule, since = after_an_outage(watch, 2700)
    lines = [
        msgspec.json.encode(
            {
                "timestamp": (since + timedelta(seconds=50 * number)).isoformat(),
                "session_id": "s",
                "type": "error",
            }
        )
        for number in range(50)
    ]
    store_events(watch.runtime.clickhouse, watch.org.id, lines)
    seen = Seen()
    for number in range(5):
        evaluate(watch, seen)
        state = watch.state(rule)
        assert state["evaluated_to"] == seen.rules[-1].until
        away = (state["due_at"] - state["last_attempted_at"]).total_seconds()
        assert (away == pytest.approx(INTERVAL_SECS / 3)) or number == 4
        assert away >= INTERVAL_SECS / 3 - 1e-6
    assert [one.is_behind for one in seen.rules] == [True] * 4 + [False]
    assert seen.rules[0].since == since
    windows = [one.evidence["window"] for one in seen.readings]
    assert [one["from"] for one in windows[1:]] == [one["to"] for one in windows[:-1]]
    begin, end = (format_us(to_us(since + timedelta(seconds=secs))) for secs in (0, 600))
    assert windows[0] == {"from": begin, "to": end}
    assert sum(one.value or 0 for one in seen.readings) == 50


def test_a_piece_that_failed_is_not_passed_over(watch: Watch) -> None:
    rule, since = after_an_outage(watch, 86_400)
    seen = Seen()
    seen.fails = True
    evaluate(watch, seen)
    assert watch.state(rule)["evaluated_to"] == since
    assert watch.state(rule)["last_error"] == "too much"
    seen.fails = False
    evaluate(watch, seen)
    evaluate(watch, seen)
    ends = [(one.until - since).total_seconds() for one in seen.rules]
    assert ends == [600, 120, 720]
    assert watch.state(rule)["evaluated_to"] == seen.rules[-1].until
