"""The time of a rule's next evaluation."""

import uuid
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from shared.watch.alerts.evaluation.cadence import next_due

ORG = uuid.UUID("00000000-0000-4000-8000-00000000002a")
NOON = datetime(2026, 11, 2, 12, 0, 0, 1, tzinfo=UTC)
INTERVALS = (30, 60, 61, 300, 3600, 86_400)
MOMENTS = [NOON + timedelta(seconds=7.3 * number) for number in range(50)]


@pytest.mark.parametrize("interval", INTERVALS)
def test_a_third_of_an_interval_away_at_least_and_one_at_most(interval: int) -> None:
    away = [
        (next_due(uuid.uuid4(), interval, moment) - moment).total_seconds() for moment in MOMENTS
    ]
    assert min(away) >= interval / 3 - 1e-6
    assert max(away) <= interval


@pytest.mark.parametrize("interval", INTERVALS)
def test_a_rule_evaluated_in_time_is_due_once_an_interval(interval: int) -> None:
    due = [next_due(ORG, interval, next_due(ORG, interval, NOON))]
    for late in (0.0, 0.4, 3.9, 0.1, 14.9):
        due.append(next_due(ORG, interval, due[-1] + timedelta(seconds=late)))
    apart = {(after - before).total_seconds() for before, after in pairwise(due)}
    assert apart == {interval}


def test_rules_of_an_interval_are_due_together_whenever_each_was_evaluated() -> None:
    due = next_due(ORG, 3600, NOON)
    early = due - timedelta(seconds=1300)
    for moment in (early, early - timedelta(seconds=7), early - timedelta(seconds=700)):
        assert next_due(ORG, 3600, moment) == due


@pytest.mark.parametrize("interval", INTERVALS)
def test_a_rule_that_is_behind_is_due_a_third_of_an_interval_later(interval: int) -> None:
    due = next_due(ORG, interval, NOON, is_behind=True)
    assert (due - NOON).total_seconds() == pytest.approx(interval / 3)


def test_a_rule_evaluated_just_before_the_grid_returns_to_it() -> None:
    due = next_due(ORG, 60, NOON)
    soon = next_due(ORG, 60, due - timedelta(seconds=5))
    assert soon == due + timedelta(seconds=15)
    assert next_due(ORG, 60, soon) == due + timedelta(seconds=60)


@pytest.mark.parametrize("divisor", [30, 60, 300])
def test_rules_of_an_interval_are_due_with_those_of_one_that_divides_it(divisor: int) -> None:
    due = next_due(ORG, 3600, NOON)
    assert next_due(ORG, divisor, due - timedelta(seconds=divisor)) == due


def test_organizations_are_spread_over_the_interval() -> None:
    org_ids = [uuid.uuid4() for _ in range(600)]
    seconds = {next_due(one, 60, next_due(one, 60, NOON)).second for one in org_ids}
    assert len(seconds) > 50
