"""Fixtures of tests that place records."""

from collections.abc import Callable, Iterator

import pytest

from devstack import DevStack
from shared.foundation.deployment.runtime import Runtime
from shared.intake.otlp.assignment import assigner
from tests.support.assignment_desk import Desk
from tests.support.runtime import connected, make_org, settings_for


@pytest.fixture(scope="module")
def placing_runtime(migrated_stack: DevStack) -> Iterator[Runtime]:
    """A runtime that takes over another consumer's batches after a moment."""
    with connected(settings_for(migrated_stack.urls, ingest_claim_idle_secs=0.05)) as made:
        yield made


@pytest.fixture
def desk_of(placing_runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Desk]:
    """Makes organizations, each in an empty Redis."""
    desks: list[Desk] = []
    real = assigner.now_ms
    monkeypatch.setattr(assigner, "now_ms", lambda client: real(client) + desks[-1].shift_ms)
    monkeypatch.setattr(assigner, "GATHER_SECS", 0.0)

    def make() -> Desk:
        placing_runtime.redis.flushdb()
        desks.append(Desk(placing_runtime, make_org(placing_runtime)))
        return desks[-1]

    return make


@pytest.fixture
def desk(desk_of: Callable[[], Desk]) -> Desk:
    """An organization in an empty Redis."""
    return desk_of()
