"""Claims of rules: their order, and that only one worker holds each."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from shared.foundation.queue.waiting import event_stream
from shared.intake.ingest import stream
from shared.intake.ingest.batch import Batch as Events
from shared.watch.alerts.evaluation import claims
from shared.watch.alerts.evaluation.claims import RuleBatch
from tests.support.alerting import Verdicts, Watch
from tests.support.runtime import make_org


def take(watch: Watch, *, is_sql: bool = False) -> RuleBatch | None:
    return claims.claim(watch.runtime, is_sql=is_sql)


def taken(watch: Watch, *, is_sql: bool = False) -> RuleBatch:
    batch = take(watch, is_sql=is_sql)
    assert batch is not None
    return batch


def give_back(watch: Watch, batch: RuleBatch, after_secs: float = 0.0) -> None:
    with watch.runtime.postgres.transaction() as session:
        claims.give_back(session, batch, after_secs=after_secs)


def wait_for_ingest(watch: Watch) -> None:
    """Leaves a batch of events in Redis, as if none could be stored."""
    events = Events([1], [1], [1], ["s"], ["a"], ["note"], ["e"], [b"{}"])
    stream.append(watch.runtime.redis, watch.org.id, watch.org.slug, events)


def test_all_due_rules_of_an_organization_come_together(watch: Watch, other: Watch) -> None:
    mine = {watch.rule("metric_threshold"), watch.rule("per_event"), watch.rule("eval_compound")}
    theirs = {other.rule(), other.rule()}
    batches = [taken(watch), taken(watch)]
    by_org = {batch.org_id: {rule.alert_id for rule in batch.rules} for batch in batches}
    assert by_org == {watch.org.uuid: mine, other.org.uuid: theirs}
    assert take(watch) is None


def test_statements_are_taken_apart_from_the_rest(watch: Watch) -> None:
    rule, statement = watch.rule(), watch.rule("custom_sql")
    assert [one.alert_id for one in taken(watch).rules] == [rule]
    assert [one.alert_id for one in taken(watch, is_sql=True).rules] == [statement]


def test_a_rule_that_is_disabled_or_due_later_is_left(watch: Watch) -> None:
    watch.rule(enabled=False)
    later = watch.rule()
    watch.sql(
        "UPDATE alert_states SET due_at = now() + interval '1 hour' WHERE alert_id = :id", id=later
    )
    assert take(watch) is None


def test_the_rules_of_a_deleted_organization_are_left(watch: Watch) -> None:
    watch.rule()
    watch.sql("UPDATE organizations SET deleted_at = now() WHERE id = :org_id")
    assert take(watch) is None


def test_workers_that_look_at_once_take_each_rule_once(watch: Watch) -> None:
    watches = [watch, *(Watch(watch.runtime, make_org(watch.runtime)) for _ in range(5))]
    rules = {one.rule() for one in watches for _ in range(2)}
    with ThreadPoolExecutor(8) as pool:
        batches = list(pool.map(lambda _: take(watch), range(8)))
    found = [rule.alert_id for batch in batches if batch is not None for rule in batch.rules]
    assert sorted(found) == sorted(rules)


def test_one_worker_at_a_time_has_rules_of_an_organization(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(claims.MOST_RULES, False, 2)
    rules = [watch.rule() for _ in range(3)]
    first = taken(watch)
    assert [rule.alert_id for rule in first.rules] == rules[:2]
    assert take(watch) is None
    watch.sql(
        "UPDATE alert_states SET due_at = NULL WHERE lease_token IS NOT NULL AND org_id = :org_id"
    )
    give_back(watch, first)
    assert [rule.alert_id for rule in taken(watch).rules] == rules[2:]


def test_the_rules_of_a_killed_worker_are_taken_after_its_lease(watch: Watch) -> None:
    rule = watch.rule()
    killed = taken(watch)
    assert take(watch) is None
    watch.end_leases()
    again = taken(watch)
    assert [one.alert_id for one in again.rules] == [rule]
    assert again.lease.token != killed.lease.token


def test_a_renewed_lease_outlives_the_first(watch: Watch) -> None:
    watch.rule()
    batch = taken(watch)
    watch.end_leases()
    with watch.runtime.postgres.transaction() as session:
        assert batch.lease.renew(session, claims.LEASE_SECS)
    assert take(watch) is None


def test_a_rule_given_back_is_due_as_before(watch: Watch) -> None:
    rule = watch.rule()
    due_at = watch.state(rule)["due_at"]
    give_back(watch, taken(watch), after_secs=60)
    assert take(watch) is None
    give_back(watch, taken_after_hold(watch))
    assert watch.state(rule)["due_at"] == due_at


def taken_after_hold(watch: Watch) -> RuleBatch:
    watch.end_leases()
    return taken(watch)


def test_the_organization_whose_turn_was_longest_ago_is_first(watch: Watch, other: Watch) -> None:
    for one in (watch, other, watch, other):
        one.rule("custom_sql")
    served = []
    for _ in range(4):
        batch = taken(watch, is_sql=True)
        served.append(batch.org_id)
        # One statement per turn, as for organizations whose statements are slow.
        watch.sql(
            "UPDATE alert_states SET last_attempted_at = clock_timestamp(), due_at = NULL"
            " WHERE alert_id = :id",
            id=batch.rules[0].alert_id,
        )
        watch.sql(
            "UPDATE alert_states SET due_at = now() + interval '1 hour' WHERE alert_id = :id",
            id=batch.rules[0].alert_id,
        )
        give_back(watch, batch)
    assert served[0] != served[1]
    assert served[:2] == served[2:]


def test_no_more_statements_run_than_the_deployment_allows(watch: Watch) -> None:
    settings = msgspec.structs.replace(watch.runtime.settings, alert_query_concurrency=2)
    bounded = replace(watch.runtime, settings=settings)
    for _ in range(4):
        Watch(bounded, make_org(bounded)).rule("custom_sql")
    with ThreadPoolExecutor(4) as pool:
        batches = list(pool.map(lambda _: claims.claim(bounded, is_sql=True), range(4)))
    held = [batch for batch in batches if batch is not None]
    assert len(held) == 2
    give_back(watch, held[0], after_secs=60)
    assert claims.claim(bounded, is_sql=True) is not None
    assert claims.claim(bounded, is_sql=True) is None


def test_a_window_ends_before_what_is_not_stored_yet(watch: Watch) -> None:
    watch.rule()
    wait_for_ingest(watch)
    entries: Any = watch.runtime.redis.xrange(event_stream(watch.org.id))
    arrival_ms = int(entries[0][0].partition(b"-")[0])
    until = taken(watch).until
    assert round(until.timestamp() * 1000) == arrival_ms - 2000


def test_a_window_that_stands_still_is_not_evaluated_again(watch: Watch, other: Watch) -> None:
    rule, moving = watch.rule(), other.rule()
    wait_for_ingest(watch)
    assert watch.run(Verdicts()) == 2
    watch.sql("UPDATE alert_states SET due_at = now() WHERE org_id = :org_id")
    other.make_due()
    assert [one.alert_id for one in taken(watch).rules] == [moving]
    assert take(watch) is None
    # A new rule looks at all existing events.
    new = watch.rule()
    assert [one.alert_id for one in taken(watch).rules] == [new]
    watch.end_leases()
    stream.remove(watch.runtime.redis, watch.org.id)
    watch.make_due()
    assert {one.alert_id for one in taken(watch).rules} == {rule, new}


def test_a_clock_that_was_set_back_stops_no_rule(watch: Watch) -> None:
    rule = watch.rule()
    watch.run(Verdicts())
    ahead = watch.state(rule)["evaluated_to"] + timedelta(days=1)
    watch.sql(
        "UPDATE alert_states SET due_at = now(), evaluated_to = :ahead WHERE org_id = :org_id",
        ahead=ahead,
    )
    assert watch.run(Verdicts()) == 1
    assert watch.state(rule)["evaluated_to"] == ahead
