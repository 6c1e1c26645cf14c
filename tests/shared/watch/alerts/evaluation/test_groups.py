"""Rules with groups: each has its own breaches, incident and resolution."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.watch.alerts import groups, resolution
from shared.watch.alerts.evaluation import claims
from tests.support.alerting import Watch
from tests.support.events import event, store_events

START = datetime(2026, 11, 2, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ERRORS = {
    "metric": "error_count",
    "op": ">=",
    "value": 1,
    "window_secs": 60,
    "group_by": "user_id",
}


class Minutes:
    """A rule that is evaluated minute by minute."""

    def __init__(self, watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
        self.watch, self._monkeypatch, self.at = watch, monkeypatch, START

    def run(self, failing: Iterable[str | None] = (), **fields: Any) -> dict[str | None, str]:
        """Stores an error of each user and evaluates; returns the states by user."""
        ts = f"{self.at + MINUTE / 2:%H:%M:%S}"
        lines = [
            event(f"of {user}", ts, "error", **({"user_id": user} if user else {}), **fields)
            for user in failing
        ]
        store_events(self.watch.runtime.clickhouse, self.watch.org.id, lines)
        self.at += MINUTE
        self._monkeypatch.setattr(claims, "stored_until_each", lambda *_args: [self.at])
        self.watch.sql("UPDATE alert_states SET due_at = now() WHERE org_id = :org_id")
        assert self.watch.run() == 1
        rows = self.watch.incidents()
        return {(row["breach_group"] or {"": "all"}).popitem()[1]: row["state"] for row in rows}


@pytest.fixture
def minutes(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> Minutes:
    return Minutes(watch, monkeypatch)


def test_each_group_has_an_incident_of_its_own(minutes: Minutes) -> None:
    minutes.watch.rule(trigger_spec=ERRORS, name="Research", channels=[{"kind": "dashboard"}])
    assert minutes.run(["zoe", None]) == {"zoe": "firing", None: "firing"}
    assert minutes.run(["zoe", "max"]) == {"zoe": "firing", None: "firing", "max": "firing"}
    titles = {row["title"] for row in minutes.watch.incidents()}
    assert titles == {"Research: user zoe", "Research: user max", "Research: no user"}
    told = minutes.watch.sql("SELECT event FROM notifications WHERE org_id = :org_id")
    assert len(told) == 3


def test_the_evidence_shows_the_events_of_the_group(minutes: Minutes) -> None:
    minutes.watch.rule(trigger_spec=ERRORS)
    minutes.run(["zoe", "max"])
    shown = {
        row["breach_group"]["user_id"]: row["evidence"]["session_ids"]
        for row in minutes.watch.incidents()
    }
    assert shown == {"zoe": ["of zoe"], "max": ["of max"]}


def test_a_group_needs_its_own_breaches_and_clean_evaluations(minutes: Minutes) -> None:
    minutes.watch.rule(trigger_spec={**ERRORS, "auto_resolve": True}, min_breaches=2, eval_window=2)
    assert minutes.run(["zoe"]) == {}
    assert minutes.run(["max"]) == {}
    assert minutes.run(["max"]) == {"max": "firing"}
    assert minutes.run(["zoe"]) == {"max": "firing"}
    assert minutes.run(["zoe"]) == {"max": "resolved", "zoe": "firing"}


def test_events_without_a_user_are_those_of_their_session(minutes: Minutes) -> None:
    minutes.watch.rule(trigger_spec=ERRORS)
    lines = [
        event("s", "11:00:00", user_id="zoe"),
        event("s", "12:00:20", "error"),
        event("s", "12:00:30", "error", user_id="max"),
    ]
    store_events(minutes.watch.runtime.clickhouse, minutes.watch.org.id, lines)
    assert minutes.run() == {"zoe": "firing", "max": "firing"}


@pytest.mark.parametrize(
    ("by", "group"), [("attr.plan", "gold"), ("environment", "live"), ("agent_id", "planner")]
)
def test_any_field_makes_groups(minutes: Minutes, by: str, group: str) -> None:
    minutes.watch.rule(trigger_spec={**ERRORS, "group_by": by})
    fields = {"attributes": {"plan": "gold"}, "environment": "live", "agent_id": "planner"}
    assert minutes.run(["zoe"], **fields) == {group: "firing"}
    [row] = minutes.watch.incidents()
    assert row["breach_group"] == {by: group}


def test_a_resolution_begins_only_its_group_anew(
    minutes: Minutes, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = minutes.watch
    rule = watch.rule(trigger_spec={**ERRORS, "window_secs": 3600})
    minutes.run(["zoe", "max"])
    monkeypatch.setattr(resolution, "present_time", lambda _session: minutes.at)
    for row in watch.incidents():
        if row["breach_group"] == {"user_id": "zoe"}:
            with watch.runtime.postgres.transaction() as session:
                resolution.begin_after(session, watch.org.uuid, str(row["id"]), snooze_secs=0)
    watch.sql(
        "UPDATE incidents SET state = 'resolved' WHERE org_id = :org_id"
        """ AND breach_group = '{"user_id": "zoe"}'"""
    )
    assert minutes.run() == {"zoe": "resolved", "max": "firing"}
    assert watch.state(rule)["groups"]["zoe"].keys() == {"begins_at"}
    minutes.run(["zoe"])
    assert [row["state"] for row in watch.incidents()].count("firing") == 2


def test_so_many_incidents_are_open_at_once_and_the_rest_is_counted(
    minutes: Minutes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "MOST_OPEN", 3)
    minutes.watch.rule(trigger_spec=ERRORS)
    found = minutes.run([f"u{number}" for number in range(10)])
    assert len(found) == 3
    assert {row["evidence"]["groups_more"] for row in minutes.watch.incidents()} == {7}


def test_a_thousand_users_are_one_statement(
    minutes: Minutes, monkeypatch: pytest.MonkeyPatch
) -> None:
    clickhouse = minutes.watch.runtime.clickhouse
    minutes.watch.rule(trigger_spec={**ERRORS, "value": 2})
    users = [f"u{number}" for number in range(1000)]
    asked = []
    rows = clickhouse.rows

    def noted(sql: str, *args: Any, **kwargs: Any) -> Any:
        asked.append(sql)
        return rows(sql, *args, **kwargs)

    monkeypatch.setattr(clickhouse, "rows", noted)
    # One user has two errors. The second statement reads the events that show it.
    again = event("again", "12:00:20", "error", user_id="u7")
    store_events(clickhouse, minutes.watch.org.id, [again])
    assert minutes.run(users) == {"u7": "firing"}
    assert len(asked) == 2


def test_a_changed_filter_begins_from_the_start(minutes: Minutes) -> None:
    rule = minutes.watch.rule(trigger_spec=ERRORS, min_breaches=2, eval_window=2)
    minutes.run(["zoe"])
    minutes.watch.change(
        rule, trigger_spec={**ERRORS, "window_secs": 120}, min_breaches=2, eval_window=2
    )
    assert minutes.run() == {}


def test_other_organizations_are_left_alone(minutes: Minutes, other: Watch) -> None:
    other.rule(trigger_spec=ERRORS)
    other.sql("UPDATE alert_states SET due_at = NULL WHERE org_id = :org_id")
    minutes.watch.rule(trigger_spec=ERRORS)
    minutes.run(["zoe"])
    assert other.incidents() == []
