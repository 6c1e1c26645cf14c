"""The moments at which the clock wakes tasks."""

import threading
from collections.abc import Iterator

import pytest

from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.wakeups import MOMENTS, Wakeups


@pytest.fixture
def wakeups(runtime: Runtime) -> Iterator[Wakeups]:
    runtime.redis.delete(MOMENTS)
    made = Wakeups(runtime.redis)
    yield made
    made.close()
    runtime.redis.delete(MOMENTS)


def test_a_moment_is_taken_once_when_it_has_come(wakeups: Wakeups) -> None:
    wakeups.add("now", 0.0)
    wakeups.add("later", 60.0)
    due, secs = wakeups.take()
    assert due == ["now"]
    assert secs is not None
    assert 50 < secs <= 60
    assert wakeups.take()[0] == []


def test_the_earliest_of_a_tasks_moments_counts(wakeups: Wakeups) -> None:
    wakeups.add("task", 60.0)
    wakeups.add("task", 0.0)
    wakeups.add("task", 90.0)
    assert wakeups.take() == (["task"], None)


def test_waiting_ends_when_a_moment_becomes_the_first_one(
    runtime: Runtime, wakeups: Wakeups
) -> None:
    wakeups.add("late", 600.0)
    wakeups.wait(0.01)  # subscribes
    woken = threading.Event()

    def wait() -> None:
        # The timeout of the test is shorter than this.
        wakeups.wait(1000.0)
        woken.set()

    threading.Thread(target=wait, daemon=True).start()
    while not woken.wait(0.1):
        runtime.redis.zrem(MOMENTS, "early")
        runtime.queue.wakeups.add("early", 300.0)
