"""Four concurrent runs of an organization, over all processes."""

import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest

from shared.foundation.core.errors import RateLimited, Unavailable
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue import slots as module
from shared.foundation.queue.slots import OF_ALERTS, RUNS_AT_ONCE, QuerySlots
from tests.support.runtime import Org, make_org


def hold_all(stack: ExitStack, slots: QuerySlots, org: Org) -> None:
    """Takes every slot of the organization."""
    for _ in range(RUNS_AT_ONCE):
        stack.enter_context(slots.hold(org.id))


def is_full(slots: QuerySlots, org: Org) -> bool:
    """Returns whether one more is refused."""
    try:
        with slots.hold(org.id):
            return False
    except RateLimited:
        return True


def test_the_fifth_is_refused_wherever_the_others_run(runtime: Runtime, org: Org) -> None:
    here, elsewhere = (
        QuerySlots(runtime.redis, runtime.clickhouse),
        QuerySlots(runtime.redis, runtime.clickhouse),
    )
    with ExitStack() as stack:
        hold_all(stack, here, org)
        assert is_full(elsewhere, org)
        assert not is_full(elsewhere, make_org(runtime))
    assert not is_full(elsewhere, org)


def test_alerts_and_people_take_no_places_from_each_other(runtime: Runtime, org: Org) -> None:
    peoples = QuerySlots(runtime.redis, runtime.clickhouse)
    alerts = QuerySlots(runtime.redis, runtime.clickhouse, OF_ALERTS)
    with ExitStack() as stack:
        hold_all(stack, peoples, org)
        for _ in range(OF_ALERTS.at_once):
            assert not is_full(alerts, org)
            stack.enter_context(alerts.hold(org.id))
        assert is_full(alerts, org)
    assert not is_full(peoples, org)


def test_a_run_that_fails_gives_its_slot_back(runtime: Runtime, org: Org) -> None:
    slots = QuerySlots(runtime.redis, runtime.clickhouse)
    for _ in range(RUNS_AT_ONCE + 1):
        with pytest.raises(ValueError, match="mine"), slots.hold(org.id):
            raise ValueError("mine")


def test_the_slots_of_a_killed_process_come_back(
    runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    slots = QuerySlots(runtime.redis, runtime.clickhouse)
    with ExitStack() as killed:
        # Every lease but one ends at once.
        monkeypatch.setattr(module, "LEASE_MS", 0)
        for _ in range(RUNS_AT_ONCE - 1):
            killed.enter_context(slots.hold(org.id))
        monkeypatch.undo()
        with ExitStack() as living:
            hold_all(living, slots, org)
            assert is_full(slots, org)


def test_nothing_is_left_in_redis(runtime: Runtime, org: Org) -> None:
    with QuerySlots(runtime.redis, runtime.clickhouse).hold(org.id):
        [key] = runtime.redis.keys(f"*{org.id}*")
        assert 0 < runtime.redis.pttl(key) <= module.LEASE_MS
    assert runtime.redis.keys(f"*{org.id}*") == []


@contextmanager
def running(runtime: Runtime, query_id: str) -> Iterator[None]:
    """Runs a statement with this id until the block ends."""
    sql = "SELECT count() FROM system.numbers WHERE sleepEachRow(0.01) = 0"
    found = "SELECT 1 FROM system.processes WHERE query_id = {query_id:String}"
    params = {"query_id": query_id}
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(
            runtime.clickhouse.rows, sql, settings={"max_block_size": 10}, query_id=query_id
        )
        try:
            while not runtime.clickhouse.rows(found, params):
                assert not future.done()
                time.sleep(0.01)
            yield
        finally:
            kill = "KILL QUERY WHERE query_id = {query_id:String} SYNC"
            runtime.clickhouse.execute(kill, params)
            with pytest.raises(Unavailable):
                future.result()


def test_an_abandoned_statement_keeps_its_place_until_it_ends(runtime: Runtime, org: Org) -> None:
    slots = QuerySlots(runtime.redis, runtime.clickhouse)
    query_id = f"{org.id}:{uuid.uuid4()}"
    with ExitStack() as others:
        for _ in range(RUNS_AT_ONCE - 1):
            others.enter_context(slots.hold(org.id))
        with running(runtime, query_id):
            with slots.hold(org.id) as slot:
                slot.leave(query_id, has_begun=True)
            assert is_full(slots, org)
            assert is_full(QuerySlots(runtime.redis, runtime.clickhouse), org)
        assert not is_full(slots, org)
    assert runtime.redis.keys(f"*{org.id}*") == []


def test_a_statement_that_may_be_on_its_way_keeps_its_place_for_a_moment(
    runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    slots = QuerySlots(runtime.redis, runtime.clickhouse)
    monkeypatch.setattr(module, "ARRIVAL_MS", 60_000)
    with slots.hold(org.id) as late:
        late.leave(f"{org.id}:{uuid.uuid4()}", has_begun=False)
    monkeypatch.setattr(module, "ARRIVAL_MS", 0)
    for _ in range(RUNS_AT_ONCE - 1):
        with slots.hold(org.id) as arrived:
            arrived.leave(f"{org.id}:{uuid.uuid4()}", has_begun=False)
    with ExitStack() as stack:
        for _ in range(RUNS_AT_ONCE - 1):
            stack.enter_context(slots.hold(org.id))
        assert is_full(slots, org)
