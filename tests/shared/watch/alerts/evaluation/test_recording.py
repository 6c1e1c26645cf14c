"""The effects of evaluations on rules and incidents."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID

import pytest

from shared.watch.alerts import service as alerts
from shared.watch.alerts.evaluation import claims, recording
from shared.watch.alerts.evaluation.cadence import next_due
from shared.watch.alerts.evaluation.triggers.interface import (
    NotEvaluated,
    Outcome,
    Rule,
    RuleContext,
    RuleReading,
)
from shared.watch.alerts.opening import reported
from shared.watch.incidents import service as incidents
from tests.support.alerting import INTERVAL_SECS, Verdicts, Watch, reading
from tests.support.alerts import SPECS
from tests.support.incidents import key_actor

RESOLVING = {**SPECS["metric_threshold"], "auto_resolve": True}


def evaluated(watch: Watch, rule: UUID, readings: str) -> list[int]:
    """Evaluates a rule once per character, `x` is a breach.

    Returns the open incidents each time.
    """
    opened = []
    for breached in readings:
        watch.make_due()
        assert watch.run(Verdicts({rule} if breached == "x" else set())) == 1
        opened.append(sum(row["state"] != "resolved" for row in watch.incidents()))
    return opened


def test_an_evaluation_moves_the_rule_on(watch: Watch) -> None:
    rule = watch.rule(eval_window=2)
    due_at = watch.state(rule)["due_at"]
    watch.run(Verdicts())
    state = watch.state(rule)
    assert state["last_due_at"] == due_at
    assert due_at < state["last_attempted_at"] <= datetime.now(UTC)
    assert state["due_at"] == next_due(watch.org.uuid, INTERVAL_SECS, state["last_attempted_at"])
    assert (state["recent"], state["clean"], state["last_error"]) == ([False], 1, None)
    assert (state["lease_token"], state["lease_expires_at"]) == (None, None)


def test_the_next_evaluation_knows_where_the_last_one_ended(watch: Watch) -> None:
    watch.rule()
    verdicts = Verdicts()
    watch.run(verdicts)
    watch.sql(
        "UPDATE alert_states SET due_at = now(), evaluated_to = evaluated_to - interval '1 m'"
        " WHERE org_id = :org_id"
    )
    watch.run(verdicts)
    [[first], [second]] = verdicts.asked
    assert first.since is None
    assert second.since is not None
    assert (first.until - second.since).total_seconds() == 60


def test_an_incident_opens_at_enough_breaches_and_later_ones_fold_into_it(watch: Watch) -> None:
    rule = watch.rule(min_breaches=2, eval_window=3, severity="critical", name="too many")
    assert evaluated(watch, rule, "x-x-x") == [0, 0, 1, 1, 1]
    [incident] = watch.incidents()
    assert incident["last_breach_at"] > incident["opened_at"]
    assert (incident["alert_id"], incident["source"]) == (rule, "alert")
    assert (incident["alert_name"], incident["alert_severity"]) == ("too many", "critical")
    assert (incident["breach_value"], incident["breach_summary"]) == (1.0, "a sentence")


def test_a_breach_folds_also_where_it_alone_would_not_fire(watch: Watch) -> None:
    rule = watch.rule(min_breaches=2, eval_window=2)
    evaluated(watch, rule, "xx--")
    [before] = watch.incidents()
    evaluated(watch, rule, "x")
    [after] = watch.incidents()
    assert after["last_breach_at"] > before["last_breach_at"]


def test_an_incident_is_announced_once(watch: Watch) -> None:
    rule = watch.rule(channels=[{"kind": "dashboard"}])
    evaluated(watch, rule, "xxx")
    rows = watch.sql("SELECT event FROM notifications WHERE org_id = :org_id")
    assert [row["event"] for row in rows] == ["alert.firing"]


def test_a_clean_window_ends_an_incident_where_the_rule_says_so(watch: Watch) -> None:
    rule = watch.rule(trigger_spec=RESOLVING, min_breaches=1, eval_window=2)
    assert evaluated(watch, rule, "x-x--") == [1, 1, 1, 1, 0]
    [incident] = watch.incidents()
    assert incident["resolved_by"] == "system"
    assert evaluated(watch, rule, "x") == [1]


def test_an_incident_stays_open_where_the_rule_does_not(watch: Watch) -> None:
    rule = watch.rule()
    assert evaluated(watch, rule, "x---") == [1, 1, 1, 1]


def open_by_hand(watch: Watch, rule: UUID) -> None:
    """Opens an incident for the rule by hand, or adds a report to the open one."""
    with watch.runtime.postgres.transaction() as session:
        alert, _ = alerts.get(session, watch.org.uuid, str(rule))
        incidents.open_incident(
            session, watch.runtime, reported(alert, key_actor(), "it hangs", None)
        )


def test_clean_evaluations_do_not_end_an_incident_opened_by_hand(
    watch: Watch,
) -> None:
    rule = watch.rule(trigger_spec=RESOLVING, min_breaches=2, eval_window=2)
    assert evaluated(watch, rule, "x") == [0]
    open_by_hand(watch, rule)
    open_by_hand(watch, rule)
    assert evaluated(watch, rule, "---") == [1, 1, 1]


def test_an_incident_opened_by_hand_ends_automatically_after_a_breach(watch: Watch) -> None:
    rule = watch.rule(trigger_spec=RESOLVING, eval_window=2, channels=[{"kind": "dashboard"}])
    evaluated(watch, rule, "--")
    open_by_hand(watch, rule)
    assert evaluated(watch, rule, "-x-") == [1, 1, 1]
    # A report leaves the measured values unchanged.
    open_by_hand(watch, rule)
    assert evaluated(watch, rule, "-") == [0]
    [incident] = watch.incidents()
    assert (incident["source"], incident["resolved_by"]) == ("manual", "system")
    rows = watch.sql("SELECT event FROM notifications WHERE org_id = :org_id ORDER BY created_at")
    assert [row["event"] for row in rows] == ["alert.firing", "alert.resolved"]


def test_an_incident_opened_by_hand_stays_without_auto_resolve(
    watch: Watch,
) -> None:
    rule = watch.rule()
    open_by_hand(watch, rule)
    assert evaluated(watch, rule, "x--") == [1, 1, 1]


def test_a_breach_after_people_resolved_it_opens_another_one(watch: Watch) -> None:
    rule = watch.rule(min_breaches=1, eval_window=5)
    evaluated(watch, rule, "x")
    [incident] = watch.incidents()
    with watch.runtime.postgres.transaction() as session:
        incidents.resolve(
            session, watch.runtime, watch.org.uuid, incident["id"], key_actor("ada@example.org")
        )
    assert evaluated(watch, rule, "-x") == [0, 1]
    assert len(watch.incidents()) == 2


def test_a_failed_evaluation_keeps_history_and_cadence(watch: Watch) -> None:
    rule = watch.rule(eval_window=2)
    evaluated(watch, rule, "x")
    watch.make_due()
    before = watch.state(rule)

    def refuse(_context: RuleContext, rules: Sequence[Rule]) -> Mapping[UUID, Outcome]:
        return {one.alert_id: NotEvaluated("no number\x00 \ud800" + "!" * 5000) for one in rules}

    assert watch.run(refuse) == 1
    after = watch.state(rule)
    for column in ("recent", "clean", "evaluated_to"):
        assert after[column] == before[column]
    assert after["last_error"].startswith("no number\N{REPLACEMENT CHARACTER} ?!")
    assert after["due_at"] > before["due_at"]
    assert evaluated(watch, rule, "-") == [1]
    assert watch.state(rule)["last_error"] is None


def disabled(watch: Watch, rule: UUID) -> None:
    watch.change(rule, enabled=False)


def stricter(watch: Watch, rule: UUID) -> None:
    watch.change(rule, min_breaches=2, eval_window=3)


@pytest.mark.parametrize("change", [disabled, stricter, Watch.delete])
def test_breaches_from_before_a_change_do_not_count(
    watch: Watch, change: Callable[[Watch, UUID], None]
) -> None:
    rule, beside = watch.rule(), watch.rule()
    verdicts = Verdicts({rule, beside}, meanwhile=lambda _: change(watch, rule))
    batch_recorded = watch.run(Once(verdicts))
    assert batch_recorded >= 1
    assert [row["alert_id"] for row in watch.incidents()] == [beside]
    states = {
        row["alert_id"]: row
        for row in watch.sql("SELECT * FROM alert_states WHERE org_id = :org_id")
    }
    assert states[beside]["recent"] == [True]
    assert rule not in states or states[rule]["recent"] in ([], [False])


class Once:
    """Fixed verdicts for the first call, clean readings for all later ones."""

    def __init__(self, verdicts: Verdicts) -> None:
        self._verdicts = verdicts

    def __call__(self, context: RuleContext, rules: Sequence[Rule]) -> Mapping[UUID, Outcome]:
        if self._verdicts.asked:
            return {rule.alert_id: reading(False) for rule in rules}
        return self._verdicts(context, rules)


def test_an_open_incident_stays_when_its_rule_is_disabled(watch: Watch) -> None:
    rule = watch.rule(trigger_spec=RESOLVING)
    evaluated(watch, rule, "x")
    watch.change(rule, enabled=False, trigger_spec=RESOLVING)
    watch.make_due()
    assert watch.run(Verdicts()) == 0
    [incident] = watch.incidents()
    assert incident["state"] == "firing"


def test_a_change_of_the_name_takes_nothing_away(watch: Watch) -> None:
    rule = watch.rule()
    watch.run(Verdicts({rule}, meanwhile=lambda _: watch.change(rule, name="renamed")))
    [incident] = watch.incidents()
    assert incident["alert_name"] == "renamed"


def test_a_late_worker_records_nothing_over_who_came_after_it(watch: Watch) -> None:
    rule = watch.rule()
    late = claims.claim(watch.runtime, is_sql=False)
    assert late is not None
    watch.end_leases()
    assert watch.run(Verdicts()) == 1
    before = watch.state(rule)
    with watch.runtime.postgres.transaction() as session:
        assert recording.record(session, watch.runtime, late, {rule: reading(True)}) == 0
    assert watch.state(rule) == before
    assert watch.incidents() == []


def test_an_incident_that_cannot_be_opened_keeps_no_other_from_it(watch: Watch) -> None:
    # The traceback in the log takes long on a busy machine. Neither rule is due again by then.
    bad, good = (watch.rule(eval_interval_secs=86_400) for _ in range(2))
    unstorable = RuleReading(1.0, True, "a sentence", {"value": object()})

    def evaluate(_context: RuleContext, rules: Sequence[Rule]) -> Mapping[UUID, Outcome]:
        return {
            rule.alert_id: unstorable if rule.alert_id == bad else reading(True) for rule in rules
        }

    assert watch.run(evaluate) == 2
    assert [row["alert_id"] for row in watch.incidents()] == [good]
    state = watch.state(bad)
    assert (state["last_error"], state["recent"]) == ("internal error", [])
    assert state["due_at"] > state["last_attempted_at"]
