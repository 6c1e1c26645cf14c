"""Every signal finds its fault in the recording, and nothing without a fault."""

from collections.abc import Callable
from functools import cache

import pytest

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.deployment.runtime import Runtime
from shared.watch.audits.signals import NAMES, SIGNALS
from shared.watch.audits.signals.interface import Look
from tests.support.airline import Airline
from tests.support.days import WINDOW, Days, days, store, templates_of
from tests.support.faults import FAULTS
from tests.support.injection import UNNATURAL, Fault, inject, is_natural
from tests.support.looks import look_at
from tests.support.runtime import make_org

SEEDS = (1, 2)


@pytest.fixture(scope="module")
def recorded(runtime: Runtime, airline: Airline) -> Callable[[int], tuple[Days, Look]]:
    """The untouched days of a seed, stored once in a separate organization."""
    templates = templates_of(airline)

    @cache
    def made(seed: int) -> tuple[Days, Look]:
        untouched, org = days(templates, seed), make_org(runtime)
        store(runtime.clickhouse, org.id, untouched)
        return untouched, look_at(runtime.clickhouse, org.id, WINDOW)

    return made


@pytest.mark.parametrize("seed", SEEDS)
def test_untouched_days_have_only_what_the_recording_has(
    recorded: Callable[[int], tuple[Days, Look]], seed: int
) -> None:
    _, look = recorded(seed)
    found = [candidate for name in NAMES for candidate in SIGNALS[name](look)]
    assert [one.title for one in found if not is_natural(one)] == []
    assert not {one.signal for one in found} & set(UNNATURAL)
    assert {one.signal for one in found} >= {"tool_failure", "goal_failure", "error_cluster"}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: str(fault.__name__))
def test_a_fault_is_found(
    runtime: Runtime,
    clickhouse: ClickHouse,
    recorded: Callable[[int], tuple[Days, Look]],
    fault: Fault,
    seed: int,
) -> None:
    untouched, like = recorded(seed)
    faulty = inject(untouched, seed, fault)
    org = make_org(runtime)
    store(clickhouse, org.id, faulty.days, like=like.org_id, changed=faulty.changed)
    look = look_at(clickhouse, org.id, WINDOW)
    for expected in faulty.injected.expected:
        assert any(map(expected.is_met, SIGNALS[expected.signal](look))), expected


def test_every_signal_has_a_fault(recorded: Callable[[int], tuple[Days, Look]]) -> None:
    untouched, _ = recorded(SEEDS[0])
    expected = {
        one.signal
        for fault in FAULTS
        for one in inject(untouched, SEEDS[0], fault).injected.expected
    }
    assert expected == set(NAMES)
