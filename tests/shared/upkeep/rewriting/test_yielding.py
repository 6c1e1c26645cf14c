"""Long work leaves the machine to ingest that is late, and not for long."""

import threading
from collections.abc import Iterator

import pytest

from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest import backlog
from shared.upkeep.rewriting import yielding


@pytest.fixture
def lags(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The ages of the oldest entry that the next looks find, the last one for ever."""
    left = [9.0, 9.0, 0.0]

    def found() -> Iterator[float]:
        while True:
            yield left.pop(0) if len(left) > 1 else left[0]

    looks = found()
    monkeypatch.setattr(backlog, "lag_secs", lambda _redis: next(looks))
    monkeypatch.setattr(yielding, "_POLL_SECS", 0.001)
    return left


def test_it_waits_until_ingest_is_in_time(runtime: Runtime, lags: list[float]) -> None:
    yielding.let_ingest_by(runtime, threading.Event())
    assert lags == [0.0]


def test_it_goes_on_when_the_worker_stops(runtime: Runtime, lags: list[float]) -> None:
    stopping = threading.Event()
    stopping.set()
    yielding.let_ingest_by(runtime, stopping)
    assert lags == [9.0, 0.0]


def test_it_waits_no_longer_than_a_moment(
    runtime: Runtime, lags: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    lags[:] = [9.0]
    monkeypatch.setattr(yielding, "_LONGEST_SECS", 0.01)
    yielding.let_ingest_by(runtime, threading.Event())
    assert lags == [9.0]
