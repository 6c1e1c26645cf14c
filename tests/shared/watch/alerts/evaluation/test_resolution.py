"""Rules after a person resolved their incidents: what was before opens no other one."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from shared.foundation.core.errors import Invalid
from shared.watch.alerts import service
from shared.watch.alerts.opening import reported
from shared.watch.alerts.resolution import begin_after
from shared.watch.incidents import manual
from shared.watch.incidents import service as incidents
from tests.support.alerting import Watch, reading
from tests.support.events import event, store_events
from tests.support.incidents import key_actor

RATE: dict[str, Any] = {"metric": "error_rate", "op": ">", "value": 0.2, "window_secs": 3600}


def fail(watch: Watch, secs_ago: float) -> None:
    """Stores an event that failed."""
    at = datetime.now(UTC) - timedelta(seconds=secs_ago)
    line = event("s", "12:00:00", "error", timestamp=at.isoformat())
    store_events(watch.runtime.clickhouse, watch.org.id, [line])


def resolve(watch: Watch, snooze_secs: int = 0) -> None:
    """Resolves the open incident as a person does."""
    [found] = [row for row in watch.incidents() if row["state"] != "resolved"]
    with watch.runtime.postgres.transaction() as session:
        begin_after(session, watch.org.uuid, str(found["id"]), snooze_secs=snooze_secs)
        incidents.resolve(session, watch.runtime, watch.org.uuid, found["id"], key_actor())


def report(watch: Watch, alert_id: UUID) -> None:
    """Opens an incident of the rule by hand."""
    with watch.runtime.postgres.transaction() as session:
        alert, _ = service.get(session, watch.org.uuid, str(alert_id))
        opening = reported(alert, key_actor(), "customers call", None)
        incidents.open_incident(session, watch.runtime, opening)


def begin(watch: Watch, secs_ago: float) -> None:
    """Moves the begin of the windows: evaluations see only what is surely stored."""
    watch.sql(
        "UPDATE alert_states SET begins_at = now() - make_interval(secs => :secs)"
        " WHERE org_id = :org_id",
        secs=secs_ago,
    )


def run(watch: Watch, *, is_sql: bool = False) -> int:
    """Evaluates the rules once more; returns the number of incidents so far."""
    watch.make_due()
    watch.run(is_sql=is_sql)
    return len(watch.incidents())


def breach(_context: Any, rules: Any) -> Any:
    return {one.alert_id: reading(True) for one in rules}


def test_only_a_failure_after_the_resolution_opens_another_incident(watch: Watch) -> None:
    watch.rule(trigger_spec=RATE)
    fail(watch, 50)
    fail(watch, 40)
    assert run(watch) == 1
    resolve(watch)
    assert run(watch) == 1
    begin(watch, 30)
    assert run(watch) == 1
    fail(watch, 20)
    assert run(watch) == 2
    assert watch.incidents()[1]["evidence"]["counts"] == {"events": 1, "errors": 1}


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("metric_threshold", {**RATE, "metric": "error_count", "value": 0}),
        ("per_event", {"event_type": "error", "lookback_secs": 3600}),
    ],
)
def test_a_snoozed_rule_rests_and_forgets_what_happened_meanwhile(
    watch: Watch, kind: str, spec: dict[str, Any]
) -> None:
    rule = watch.rule(kind, trigger_spec=spec)
    fail(watch, 50)
    assert run(watch) == 1
    resolve(watch, 3600)
    fail(watch, 40)
    assert run(watch) == 1
    assert "waits for what comes after" in watch.state(rule)["last_error"]
    begin(watch, 30)
    assert run(watch) == 1
    fail(watch, 20)
    assert run(watch) == 2


def test_a_count_that_is_too_low_waits_for_a_whole_window(watch: Watch) -> None:
    spec = {"metric": "event_count", "op": "<", "value": 5, "window_secs": 60}
    rule = watch.rule(trigger_spec=spec)
    assert run(watch) == 1
    resolve(watch)
    assert run(watch) == 1
    assert watch.state(rule)["last_error"] is not None
    begin(watch, 30)
    assert run(watch) == 1
    begin(watch, 90)
    assert run(watch) == 2


def test_breaches_from_before_do_not_count_and_a_change_ends_a_snooze(watch: Watch) -> None:
    rule = watch.rule(min_breaches=2, eval_window=3)
    for _ in range(2):
        watch.make_due()
        watch.run(breach)
    resolve(watch, 3600)
    assert (watch.state(rule)["recent"], watch.state(rule)["clean"]) == ([], 0)
    watch.change(rule, eval_window=2)
    assert watch.state(rule)["begins_at"] is None


def test_an_evaluation_that_was_under_way_opens_nothing(watch: Watch) -> None:
    watch.rule()
    watch.run(breach)

    def resolved_meanwhile(context: Any, rules: Any) -> Any:
        resolve(watch)
        return breach(context, rules)

    watch.make_due()
    watch.run(resolved_meanwhile)
    assert [row["state"] for row in watch.incidents()] == ["resolved"]


SQL = """
    SELECT countIf(is_error) / count() AS error_rate FROM events WHERE ts > now() - INTERVAL 1 HOUR
"""


@pytest.fixture
def sql_rule(watch: Watch) -> UUID:
    """A rule that breaches, because of two events that failed, and whose incident is resolved."""
    rule = watch.rule("custom_sql", trigger_spec={"sql": SQL, "op": ">", "value": 0.2})
    fail(watch, 50)
    fail(watch, 40)
    assert run(watch, is_sql=True) == 1
    return rule


def succeed(watch: Watch, count: int) -> None:
    """Stores events that did not fail."""
    at = datetime.now(UTC).isoformat()
    lines = [event(f"s{number}", "12:00:00", timestamp=at) for number in range(count)]
    store_events(watch.runtime.clickhouse, watch.org.id, lines)


def test_sql_that_still_breaches_after_a_resolution_waits_until_it_was_clean(
    watch: Watch, sql_rule: UUID
) -> None:
    resolve(watch)
    begin(watch, 30)
    assert [run(watch, is_sql=True) for _ in range(2)] == [1, 1]
    assert "ever since its incident was resolved" in watch.state(sql_rule)["last_error"]
    succeed(watch, 20)
    assert run(watch, is_sql=True) == 1
    assert watch.state(sql_rule)["last_error"] is None
    for _ in range(10):
        fail(watch, 5)
    assert run(watch, is_sql=True) == 2


def test_sql_that_breaches_for_a_day_opens_another_incident(watch: Watch, sql_rule: UUID) -> None:
    resolve(watch)
    begin(watch, 30)
    watch.sql("UPDATE alert_states SET held_until = now() WHERE org_id = :org_id")
    assert run(watch, is_sql=True) == 2
    assert watch.state(sql_rule)["held_until"] is None


@pytest.mark.parametrize("what", ["clean", "snoozed", "changed", "reported"])
def test_sql_is_not_held(watch: Watch, sql_rule: UUID, what: str) -> None:
    """If it was clean at the resolution, was snoozed or changed, or has an open incident."""
    if what == "clean":
        watch.sql("UPDATE alert_states SET recent = '{f}' WHERE org_id = :org_id")
    resolve(watch, 3600 if what == "snoozed" else 0)
    begin(watch, 30)
    if what == "changed":
        changed = {"sql": SQL, "op": ">", "value": 0.1}
        watch.change(sql_rule, "custom_sql", trigger_spec=changed)
    if what == "reported":
        report(watch, sql_rule)
    assert run(watch, is_sql=True) == 2
    assert watch.state(sql_rule)["recent"] == [True]


def test_an_incident_without_a_rule_cannot_be_snoozed(watch: Watch) -> None:
    opening = manual.standalone(watch.org.uuid, key_actor(), "customers call", None, "info")
    with watch.runtime.postgres.transaction() as session:
        opened = incidents.open_incident(session, watch.runtime, opening).incident
        begin_after(session, watch.org.uuid, str(opened.id), snooze_secs=0)
        with pytest.raises(Invalid, match="no alert"):
            begin_after(session, watch.org.uuid, str(opened.id), snooze_secs=60)
