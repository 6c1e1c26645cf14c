"""Levels of budgets, told by workers that read real stores."""

from typing import Any

import pytest

from shared.foundation.core.actor import SYSTEM
from shared.foundation.core.errors import Unavailable
from shared.watch.alerts import groups, resolution
from shared.watch.alerts.evaluation.budgets import telling
from shared.watch.alerts.evaluation.triggers import batch
from shared.watch.incidents import service as incidents
from tests.shared.watch.alerts.evaluation.budgets.conftest import Budgets
from tests.support.alerting import Watch
from tests.support.events import event, store_events
from tests.support.runtime import make_org

FIRING, RESOLVED = "alert.firing", "alert.resolved"


def test_each_level_is_told_once_by_one_incident(budgets: Budgets) -> None:
    budgets.budget()
    assert budgets.evaluate("10:00:00") == []
    budgets.spend("25", "09:00:00")
    assert budgets.evaluate("10:01:00") == [FIRING]
    assert budgets.evaluate("10:02:00") == [FIRING]
    budgets.spend("16.20", "09:00:01")
    assert budgets.evaluate("10:03:00") == [FIRING, FIRING]
    assert budgets.titles() == ["Research: spent $41.20 of $50.00 (82 %) this month"]
    [incident] = budgets.watch.incidents()
    assert incident["level"] == 80
    assert incident["breach_value"] == 41.2
    assert incident["evidence"]["share"] == 0.824
    assert incident["evidence"]["counts"] == {"calls": 2, "unpriced_calls": 0}


def test_of_several_levels_at_once_the_highest_is_told(budgets: Budgets) -> None:
    budgets.budget()
    budgets.spend("60", "09:00:00")
    assert budgets.evaluate("10:00:00") == [FIRING]
    [incident] = budgets.watch.incidents()
    assert (incident["level"], incident["breach_group"]) == (100, None)


def test_an_amount_counts_to_the_last_decimal(budgets: Budgets) -> None:
    budgets.budget(amount_usd=0.3, levels=[100])
    for number in range(3):
        assert budgets.evaluate("10:00:00") == []
        budgets.spend("0.1", f"09:00:0{number}")
    assert budgets.evaluate("10:00:00") == [FIRING]


def test_costs_that_shrink_and_grow_again_tell_nothing_twice(budgets: Budgets) -> None:
    budgets.budget()
    budgets.spend("45", "09:00:00")
    assert budgets.evaluate("10:00:00") == [FIRING]
    budgets.spend("-30", "09:00:01")
    assert budgets.evaluate("10:01:00") == [FIRING]
    budgets.spend("30", "09:00:02")
    assert budgets.evaluate("10:02:00") == [FIRING]


def resolve(budgets: Budgets, snooze_secs: int = 0) -> None:
    watch = budgets.watch
    with watch.runtime.postgres.transaction() as session:
        for row in watch.incidents():
            if row["state"] != "resolved":
                resolution.begin_after(
                    session, watch.org.uuid, str(row["id"]), snooze_secs=snooze_secs
                )
                incidents.resolve(session, watch.runtime, watch.org.uuid, row["id"], SYSTEM)


def test_after_a_resolution_only_a_higher_level_is_told(budgets: Budgets) -> None:
    budgets.budget()
    budgets.spend("26", "09:00:00")
    budgets.evaluate("10:00:00")
    resolve(budgets)
    assert budgets.evaluate("10:01:00") == [FIRING, RESOLVED]
    budgets.spend("20", "09:00:01")
    assert budgets.evaluate("10:02:00") == [FIRING, RESOLVED, FIRING]
    assert [row["level"] for row in budgets.watch.incidents()] == [50, 80]


def test_a_snoozed_budget_tells_nothing_until_then(budgets: Budgets) -> None:
    rule = budgets.budget()
    budgets.spend("26", "09:00:00")
    budgets.evaluate("10:00:00")
    resolve(budgets, snooze_secs=60)
    budgets.spend("20", "09:00:01")
    # The snooze ends by the clock of now, which is after the day of the test.
    until = budgets.watch.state(rule)["groups"][""]["begins_at"]
    assert budgets.evaluate("10:01:00") == [FIRING, RESOLVED]
    assert until > 0
    budgets.watch.sql("""UPDATE alert_states SET groups = '{"": {"begins_at": 1}}'""")
    assert budgets.evaluate("10:02:00") == [FIRING, RESOLVED, FIRING]


def test_at_the_end_of_the_period_incidents_end_and_levels_begin(budgets: Budgets) -> None:
    budgets.budget(period="day", levels=[100])
    budgets.spend("50", "23:00:00")
    assert budgets.evaluate("23:59:59") == [FIRING]
    assert budgets.evaluate("2026-11-03T00:00:00") == [FIRING, RESOLVED]
    # What arrives late for a day that is over tells nobody.
    budgets.spend("500", "22:00:00")
    assert budgets.evaluate("2026-11-03T00:01:00") == [FIRING, RESOLVED]
    assert budgets.watch.sql("SELECT * FROM budget_levels WHERE org_id = :org_id") == []


def test_a_changed_trigger_begins_from_the_start(budgets: Budgets) -> None:
    rule = budgets.budget()
    budgets.spend("26", "09:00:00")
    assert budgets.evaluate("10:00:00") == [FIRING]
    spec = {"amount_usd": 50, "period": "month", "forecast": False}
    fields = {"name": "other", "channels": [{"kind": "dashboard"}]}
    budgets.watch.change(rule, "budget", trigger_spec=spec, **fields)
    assert budgets.evaluate("10:01:00") == [FIRING]
    budgets.watch.change(rule, "budget", trigger_spec={**spec, "amount_usd": 40}, **fields)
    assert budgets.evaluate("10:02:00") == [FIRING, FIRING]
    assert len(budgets.watch.incidents()) == 1


def test_a_forecast_is_told_once_and_before_the_amount_is_spent(budgets: Budgets) -> None:
    budgets.budget(period="day", levels=[100], forecast=True)
    for minute in range(0, 60, 10):
        budgets.spend("2", f"08:{minute:02}:00")
        budgets.spend("2", f"09:{minute:02}:00")
    # $24 of the last three hours, $8 an hour for 14 more.
    assert budgets.evaluate("10:00:00") == [FIRING]
    assert budgets.evaluate("10:01:00") == [FIRING]
    [incident] = budgets.watch.incidents()
    assert incident["level"] == "forecast"
    assert incident["title"] == "Research: will spend $136.00 of $50.00 (272 %) today"
    budgets.spend("30", "10:01:30")
    assert budgets.evaluate("10:02:00") == [FIRING, FIRING]


def test_a_forecast_needs_data_of_half_of_its_time(budgets: Budgets) -> None:
    budgets.budget(period="day", levels=[100], forecast=True)
    budgets.spend("24", "08:31:00")
    assert budgets.evaluate("10:00:00") == []
    assert budgets.evaluate("10:01:00") == [FIRING]


def test_of_a_thousand_users_one_is_told(budgets: Budgets) -> None:
    budgets.budget(group_by="user_id", levels=[100])
    lines = [
        event(
            f"s{number}",
            "09:00:00",
            "model_response",
            cost_usd="50" if number == 7 else "49.99",
            cost_source="computed",
            user_id=f"u{number}",
        )
        for number in range(1000)
    ]
    store_events(budgets.watch.runtime.clickhouse, budgets.watch.org.id, lines)
    assert budgets.evaluate("10:00:00") == [FIRING]
    assert budgets.titles() == ["Research: user u7 spent $50.00 of $50.00 (100 %) this month"]
    [incident] = budgets.watch.incidents()
    assert incident["breach_group"] == {"user_id": "u7"}


def test_so_many_are_open_and_others_follow_when_there_is_room(
    budgets: Budgets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "MOST_OPEN", 2)
    budgets.budget(group_by="user_id", levels=[100])
    for number in range(3):
        budgets.spend(f"5{number}", f"09:00:0{number}", f"u{number}")
    assert budgets.evaluate("10:00:00") == [FIRING] * 2
    assert {row["evidence"]["groups_more"] for row in budgets.watch.incidents()} == {1}
    resolve(budgets)
    assert budgets.evaluate("10:01:00") == [*[FIRING] * 2, *[RESOLVED] * 2, FIRING]


def test_a_worker_that_dies_before_the_commit_told_nothing(
    budgets: Budgets, monkeypatch: pytest.MonkeyPatch
) -> None:
    budgets.budget(levels=[100])
    budgets.spend("50", "09:00:00")
    tell = telling.tell

    def die(*args: Any, **kwargs: Any) -> None:
        tell(*args, **kwargs)
        raise Unavailable("killed")

    with monkeypatch.context() as patched:
        patched.setattr(telling, "tell", die)
        with pytest.raises(Unavailable):
            budgets.evaluate("10:00:00")
    assert budgets.told() == []
    budgets.watch.end_leases()
    assert budgets.evaluate("10:00:00") == [FIRING]


def test_of_two_workers_at_once_one_tells(budgets: Budgets) -> None:
    budgets.budget(levels=[100])
    budgets.spend("50", "09:00:00")
    others: list[int] = []

    def slowly(*args: Any) -> Any:
        # The other worker takes the rules over, as if this one had lost its lease.
        if not others:
            others.append(0)
            budgets.watch.end_leases()
            others.append(budgets.watch.run())
        return batch.evaluate(*args)

    assert budgets.evaluate_with(slowly, "10:00:00") == 0
    assert others == [0, 1]
    assert budgets.told() == [FIRING]


def test_another_organization_is_not_touched(budgets: Budgets) -> None:
    other = Watch(budgets.watch.runtime, make_org(budgets.watch.runtime))
    other.rule("budget", trigger_spec={"amount_usd": 1, "period": "month"})
    other.sql("UPDATE alert_states SET due_at = NULL WHERE org_id = :org_id")
    budgets.budget()
    budgets.spend("50", "09:00:00")
    budgets.evaluate("10:00:00")
    levels = other.sql("SELECT * FROM budget_levels WHERE org_id = :org_id")
    assert (other.incidents(), levels) == ([], [])
