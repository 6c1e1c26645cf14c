"""A repricing gives stored calls the costs of now, once, whatever happens meanwhile."""

from decimal import Decimal
from typing import Any

import pytest

from shared.access import organizations
from shared.foundation.core.errors import Conflict
from shared.foundation.deployment.runtime import Runtime
from shared.reading.sessions import deleted, facts
from shared.reading.sessions.totals import totals_of
from shared.upkeep.repricings import calls, service
from shared.upkeep.repricings.figures import RepricingFigures
from shared.upkeep.repricings.models import Repricing
from shared.upkeep.rewriting import writing, yielding
from tests.shared.upkeep.repricings.conftest import Desk, Killed, Killer
from tests.support.runtime import Org
from tests.support.stored_calls import START_US, call, costs_of, store_as_before, store_calls

TEN = [call(f"s{n % 3}", n) for n in range(10)]


def figures(repricing: Repricing) -> dict[str, Any]:
    return RepricingFigures.of(repricing.figures).result()


def total(runtime: Runtime, org: Org) -> Decimal:
    return sum((cost for _, cost, _ in costs_of(runtime, org) if cost is not None), Decimal(0))


def test_calls_get_the_prices_of_now(desk: Desk) -> None:
    store_calls(desk.runtime, desk.org, [*TEN, call(second=11, cost_usd=0.5)])
    desk.set_price(3)
    done = desk.run()
    assert done.state == "done"
    assert figures(done) == {
        "calls": 11,
        "changed": 11,
        "newly_priced": 0,
        "no_longer_priced": 0,
        "before_usd": 10.5,
        "after_usd": 30.5,
        "difference_usd": 20.0,
        "by_model": [
            {"model": "house-1", "calls": 11, "changed": 11, "before_usd": 10.5, "after_usd": 30.5}
        ],
    }
    assert costs_of(desk.runtime, desk.org) == [
        *((n, Decimal(3), "computed") for n in range(10)),
        (11, Decimal("0.5"), "reported"),
    ]
    assert figures(desk.run())["changed"] == 0


def test_a_dry_run_changes_nothing_and_has_the_figures_of_a_run(desk: Desk) -> None:
    store_calls(desk.runtime, desk.org, [*TEN, call(second=11, model="other")])
    before = costs_of(desk.runtime, desk.org)
    desk.set_price(3)
    dry = desk.run(dry_run=True)
    assert costs_of(desk.runtime, desk.org) == before
    assert figures(dry) == figures(desk.run())


def test_calls_from_before_there_were_costs_get_usage_and_cost(desk: Desk) -> None:
    old = [
        call(second=0),
        call(second=1, input_tokens=None, usage={"prompt_tokens": 2_000_000}),
        call(second=2, model="unknown"),
        call(second=3, type="tool_result", cost_usd=0.25, model=None, input_tokens=None),
        call(second=4, type="tool_result", model=None, input_tokens=None),
    ]
    store_as_before(desk.runtime, desk.org, old)
    result = figures(desk.run())
    assert (result["calls"], result["newly_priced"], result["before_usd"]) == (4, 3, 0)
    assert costs_of(desk.runtime, desk.org) == [
        (0, Decimal(1), "computed"),
        (1, Decimal(2), "computed"),
        (2, None, "unpriced"),
        (3, Decimal("0.25"), "reported"),
        (4, None, None),
    ]
    usage = "SELECT input_tokens FROM events FINAL WHERE org_id = {org_id:String} ORDER BY ts"
    assert desk.runtime.clickhouse.rows(usage, {"org_id": desk.org.id})[1] == (2_000_000,)


@pytest.mark.parametrize(
    ("field", "value"), [("model", "house-2"), ("agent_id", "x"), ("environment", "x")]
)
def test_only_calls_of_the_filter_change(desk: Desk, field: str, value: str) -> None:
    wanted: dict[str, Any] = {field: value}
    store_calls(desk.runtime, desk.org, [call(second=0), call(second=1, **{field: value})])
    desk.set_price(3)
    assert figures(desk.run(**wanted))["calls"] == 1
    assert [cost for _, cost, _ in costs_of(desk.runtime, desk.org)] == [1, 3]


def test_killed_three_times_it_has_the_same_sums(desk: Desk, kill_before: Killer) -> None:
    store_calls(desk.runtime, desk.org, TEN)
    desk.set_price(3)
    wanted = figures(desk.run(dry_run=True))
    made = desk.request()
    # After a round was counted, in the middle of a later one, and after one was written.
    for place, number in (
        ("shared.upkeep.rewriting.writing.write", 1),
        ("shared.upkeep.repricings.calls.reprice", 3),
        ("shared.intake.ingest.backlog.lag_secs", 2),
    ):
        kill_before(place, number)
        with pytest.raises(Killed):
            desk.work()
    desk.work()
    assert desk.read(made).state == "done"
    assert figures(desk.read(made)) == wanted
    assert total(desk.runtime, desk.org) == 30


def test_a_write_that_was_not_committed_counts_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_calls(desk.runtime, desk.org, TEN)
    desk.set_price(3)
    made = desk.request()
    real = writing.write

    def killed(*args: Any, **named: Any) -> None:
        real(*args, **named)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(writing, "write", killed)
        with pytest.raises(Killed):
            desk.work()
    desk.work()
    result = figures(desk.read(made))
    assert (result["before_usd"], result["after_usd"], result["changed"]) == (10, 30, 10)
    assert total(desk.runtime, desk.org) == 30


def test_a_late_copy_does_not_bring_the_old_cost_back(desk: Desk) -> None:
    arrived = START_US // 1000
    store_calls(desk.runtime, desk.org, TEN, arrived_ms=arrived)
    desk.set_price(3)
    desk.run()
    desk.set_price(7)
    # The batch again, and a copy that came before it and is stored only now.
    for moment in (arrived + 5_000, arrived - 5_000):
        store_calls(desk.runtime, desk.org, TEN, arrived_ms=moment)
    assert total(desk.runtime, desk.org) == 30
    found = [facts.find(desk.runtime.clickhouse, desk.org.id, f"s{n}") for n in range(3)]
    known = [one for one in found if one is not None]
    totals = totals_of(desk.runtime.clickhouse, desk.org.id, known)
    assert sum(one.event_count for one in totals.values()) == 10
    assert sum(one.cost_usd or 0 for one in totals.values()) == 30


def test_a_session_that_is_deleted_meanwhile_stays_away(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_calls(desk.runtime, desk.org, TEN)
    desk.set_price(3)
    real, where = calls.reprice, "org_id = {org_id:String} AND session_id = 's1'"

    def reprice(*args: Any) -> calls.RepricedRound:
        with desk.runtime.postgres.transaction() as session:
            organizations.hold_alone(session, desk.org.uuid)
            deleted.add(session, desk.org.uuid, ["s1"], desk.org.uuid)
        desk.runtime.clickhouse.execute(
            f"DELETE FROM events WHERE org_id = '{desk.org.id}' AND session_id = 's1'"
        )
        return real(*args)

    monkeypatch.setattr(calls, "reprice", reprice)
    desk.run()
    count = f"SELECT count() FROM events WHERE {where}"
    assert desk.runtime.clickhouse.rows(count, {"org_id": desk.org.id}) == [(0,)]
    assert total(desk.runtime, desk.org) == 21


def test_the_prices_of_its_start_count(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    store_calls(desk.runtime, desk.org, TEN)
    desk.set_price(3)
    made, real = desk.request(), calls.reprice

    def reprice(*args: Any) -> calls.RepricedRound:
        desk.set_price(7)
        return real(*args)

    monkeypatch.setattr(calls, "reprice", reprice)
    desk.work()
    assert figures(desk.read(made))["after_usd"] == 30


def test_one_at_a_time(desk: Desk) -> None:
    desk.request()
    with pytest.raises(Conflict) as refusal:
        desk.request(dry_run=True)
    assert refusal.value.code == "repricing_running"
    desk.work()
    desk.request()


def test_a_running_one_ends_after_its_round(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    store_calls(desk.runtime, desk.org, TEN)
    desk.set_price(3)
    made = desk.request()

    def cancel_after_the_first(*_: object) -> None:
        if figures(desk.read(made))["calls"]:
            with desk.runtime.postgres.transaction() as session:
                service.cancel(session, desk.runtime.queue, desk.org.uuid, str(made))

    monkeypatch.setattr(yielding, "let_ingest_by", cancel_after_the_first)
    desk.work()
    ended = desk.read(made)
    assert ended.state == "cancelled"
    assert figures(ended)["calls"] == 8
    assert total(desk.runtime, desk.org) == 2 + 24
