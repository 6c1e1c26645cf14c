"""Several workers that evaluate at the same time, with failures meanwhile."""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import msgspec
import pytest
from sqlalchemy import RowMapping

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.clock import now
from shared.foundation.core.errors import Unavailable
from shared.foundation.postgres import leases
from shared.foundation.queue import connect_redis
from shared.watch.alerts.evaluation import claims, dispatcher, evaluating
from shared.watch.alerts.evaluation.triggers.batch import evaluate as by_triggers
from shared.watch.alerts.evaluation.triggers.interface import Outcome, Rule, RuleContext
from tests.support.alerting import Verdicts, Watch, reading
from tests.support.events import store_events
from tests.support.runtime import connected, make_org

COUNTING = {"sql": "SELECT count() AS metric_value FROM events", "op": ">=", "value": 2}


def errors_a_minute_ago(watch: Watch, count: int) -> None:
    """Stores events of type error."""
    moment = (now() - timedelta(seconds=60)).isoformat()
    lines = [
        msgspec.json.encode(
            {"timestamp": moment, "session_id": f"s{number}", "type": "error", "message": "refused"}
        )
        for number in range(count)
    ]
    store_events(watch.runtime.clickhouse, watch.org.id, lines)


def test_events_open_incidents_of_rules_that_they_breach(watch: Watch, other: Watch) -> None:
    errors_a_minute_ago(watch, 3)
    threshold = {"metric": "error_count", "op": ">", "value": 2, "window_secs": 300}
    for one in (watch, other):
        one.rule(trigger_spec=threshold)
        one.rule("per_event")
        one.rule("custom_sql", trigger_spec=COUNTING)
        one.rule("evaluation_score")
    assert watch.run() == 6
    assert watch.run(is_sql=True) == 2
    kinds = sorted(row["trigger_kind"] for row in watch.incidents())
    assert kinds == ["custom_sql", "metric_threshold", "per_event"]
    assert other.incidents() == []


def test_workers_at_once_evaluate_each_rule_once(watch: Watch) -> None:
    watches = [watch, *(Watch(watch.runtime, make_org(watch.runtime)) for _ in range(5))]
    rules = [one.rule() for one in watches for _ in range(3)]
    verdicts = Verdicts(set(rules))
    with ThreadPoolExecutor(4) as pool:
        done = sum(pool.map(lambda _: watch.run(verdicts), range(4)))
    assert done == len(rules)
    assert Counter(verdicts.evaluated) == Counter(rules)
    assert [len(one.incidents()) for one in watches] == [3] * 6


def test_a_rule_is_evaluated_once_for_one_due_time(watch: Watch) -> None:
    watch.rule()
    assert [watch.run(Verdicts()) for _ in range(3)] == [1, 0, 0]


def test_a_rule_that_breaks_keeps_no_other_from_being_evaluated(watch: Watch) -> None:
    rules = [watch.rule() for _ in range(4)]
    broken = rules[1]
    before = watch.state(broken)

    def evaluate(_context: RuleContext, asked: Sequence[Rule]) -> Mapping[UUID, Outcome]:
        if broken in {one.alert_id for one in asked}:
            raise ZeroDivisionError
        return {one.alert_id: reading(True) for one in asked}

    assert watch.run(evaluate) == 4
    assert {row["alert_id"] for row in watch.incidents()} == {*rules} - {broken}
    after = watch.state(broken)
    assert after["last_error"] == "internal error"
    assert after["due_at"] > before["due_at"]
    assert (after["recent"], after["evaluated_to"]) == ([], None)


def test_a_rule_that_is_forgotten_waits_for_its_next_turn(watch: Watch) -> None:
    rules = [watch.rule() for _ in range(2)]

    def evaluate(_context: RuleContext, _asked: Sequence[Rule]) -> Mapping[UUID, Outcome]:
        return {rules[0]: reading(False)}

    assert watch.run(evaluate) == 2
    told = [watch.state(rule)["last_error"] for rule in rules]
    assert told == [None, "internal error"]


def test_an_unknown_spec_blocks_no_other_rule(watch: Watch) -> None:
    rules = [watch.rule() for _ in range(3)]
    watch.sql("UPDATE alerts SET trigger_spec = '{}' WHERE id = :id", id=rules[0])
    watch.sql("UPDATE alerts SET trigger_kind = 'no_more' WHERE id = :id", id=rules[1])
    assert watch.run(Verdicts()) == 3
    told = [watch.state(rule)["last_error"] for rule in rules]
    assert told == ["internal error", "internal error", None]


def test_rules_stay_due_while_clickhouse_is_away(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "STORE_RETRY_SECS", 3600.0)
    rule = watch.rule()
    before = watch.state(rule)
    away = Watch(
        replace(watch.runtime, clickhouse=ClickHouse("clickhouse://127.0.0.1:1/x")), watch.org
    )
    with pytest.raises(Unavailable):
        away.run()
    after = watch.state(rule)
    for column in ("due_at", "recent", "last_error", "last_attempted_at"):
        assert after[column] == before[column]
    assert watch.run() == 0  # not retried for a moment
    watch.end_leases()
    assert watch.run() == 1


def test_results_from_before_an_outage_are_recorded(watch: Watch) -> None:
    first, second = watch.rule("custom_sql"), watch.rule("custom_sql")

    def evaluate(_context: RuleContext, asked: Sequence[Rule]) -> Mapping[UUID, Outcome]:
        if asked[0].alert_id == second:
            raise Unavailable("away")
        return {asked[0].alert_id: reading(True)}

    with pytest.raises(Unavailable):
        watch.run(evaluate, is_sql=True)
    assert [row["alert_id"] for row in watch.incidents()] == [first]
    assert watch.state(second)["last_attempted_at"] is None


def test_rules_stay_due_while_redis_is_away(watch: Watch) -> None:
    rule = watch.rule()
    before = watch.state(rule)
    away = Watch(replace(watch.runtime, redis=connect_redis("redis://127.0.0.1:1/0")), watch.org)
    with pytest.raises(Unavailable):
        away.run()
    assert watch.state(rule) == before


def test_a_redis_that_lost_everything_loses_no_evaluation(watch: Watch) -> None:
    url = f"{watch.runtime.settings.redis_url.rpartition('/')[0]}/9"
    settings = msgspec.structs.replace(watch.runtime.settings, redis_url=url)
    errors_a_minute_ago(watch, 2)
    rules = [watch.rule("per_event"), watch.rule("custom_sql", trigger_spec=COUNTING)]
    with connected(settings) as runtime:
        forgetful = Watch(runtime, watch.org)

        def evaluate(context: RuleContext, asked: Sequence[Rule]) -> Mapping[UUID, Outcome]:
            runtime.redis.flushdb()
            return by_triggers(context, asked)

        assert [forgetful.run(evaluate, is_sql=is_sql) for is_sql in (False, True)] == [1, 1]
    assert sorted(row["alert_id"] for row in watch.incidents()) == sorted(rules)


def test_slow_statements_of_one_organization_delay_no_other(
    watch: Watch, other: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = {watch.rule("custom_sql") for _ in range(5)}
    monkeypatch.setattr(evaluating, "SQL_TURN_SECS", 0.0)
    others_are_done, running = threading.Event(), threading.Event()

    def wait(asked: Sequence[Rule]) -> None:
        if asked[0].alert_id in slow:
            running.set()
            assert others_are_done.wait(120)

    verdicts = Verdicts(meanwhile=wait)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(watch.run, verdicts, is_sql=True)
        assert running.wait(120)
        for _ in range(3):
            other.rule("custom_sql")
        while any(row["due_at"] <= now() for row in states(other)):
            watch.run(verdicts, is_sql=True)
        # One statement of the slow organization at a time, however many workers are idle.
        assert sum(row["lease_token"] is not None for row in states(watch)) == 5
        assert sum(one in slow for one in verdicts.evaluated) == 1
        others_are_done.set()
        assert first.result() == 5


def test_a_worker_keeps_its_rules_for_as_long_as_it_evaluates(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "RENEWALS", claims.LEASE_SECS / 0.02)
    watch.rule()
    renewed = threading.Event()

    def until_renewed(_asked: Sequence[Rule]) -> None:
        watch.end_leases()
        for _ in range(500):
            if any(row["lease_expires_at"] > now() for row in states(watch)):
                renewed.set()
                return
            threading.Event().wait(0.02)

    assert watch.run(Verdicts(meanwhile=until_renewed)) == 1
    assert renewed.is_set()


def states(watch: Watch) -> list[RowMapping]:
    return watch.sql("SELECT * FROM alert_states WHERE org_id = :org_id")
