"""Four runs of an organization at once, over all processes."""

from contextlib import ExitStack

import pytest

from shared.errors import RateLimited
from shared.queries import slots as module
from shared.queries.slots import RUNS_AT_ONCE, Slots
from shared.runtime import Runtime
from tests.support.runtime import Org, make_org


def hold_all(stack: ExitStack, slots: Slots, org: Org) -> None:
    """Takes every slot of the organization."""
    for _ in range(RUNS_AT_ONCE):
        stack.enter_context(slots.hold(org.id))


def is_full(slots: Slots, org: Org) -> bool:
    """Whether one more is refused."""
    try:
        with slots.hold(org.id):
            return False
    except RateLimited:
        return True


def test_the_fifth_is_refused_wherever_the_others_run(runtime: Runtime, org: Org) -> None:
    here, elsewhere = Slots(runtime.redis), Slots(runtime.redis)
    with ExitStack() as stack:
        hold_all(stack, here, org)
        assert is_full(elsewhere, org)
        assert not is_full(elsewhere, make_org(runtime))
    assert not is_full(elsewhere, org)


def test_a_run_that_fails_gives_its_slot_back(runtime: Runtime, org: Org) -> None:
    slots = Slots(runtime.redis)
    for _ in range(RUNS_AT_ONCE + 1):
        with pytest.raises(ValueError, match="mine"), slots.hold(org.id):
            raise ValueError("mine")


def test_the_slots_of_a_killed_process_come_back(
    runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    slots = Slots(runtime.redis)
    with ExitStack() as killed:
        # All leases but one end at once.
        monkeypatch.setattr(module, "LEASE_MS", 0)
        for _ in range(RUNS_AT_ONCE - 1):
            killed.enter_context(slots.hold(org.id))
        monkeypatch.undo()
        with ExitStack() as living:
            hold_all(living, slots, org)
            assert is_full(slots, org)


def test_nothing_is_left_in_redis(runtime: Runtime, org: Org) -> None:
    with Slots(runtime.redis).hold(org.id):
        [key] = runtime.redis.keys(f"*{org.id}*")
        assert 0 < runtime.redis.pttl(key) <= module.LEASE_MS
    assert runtime.redis.keys(f"*{org.id}*") == []
