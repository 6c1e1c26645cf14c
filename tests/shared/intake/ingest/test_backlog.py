"""The limit of the backlog when Redis itself is too small or hangs."""

import threading
from collections.abc import Callable, Iterator

import pytest
import redis

from shared.foundation.core.errors import Unavailable
from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest import backlog, stream
from shared.intake.ingest.backlog import Backlog
from shared.intake.ingest.batch import Batch
from tests.support.runtime import Org

LIMIT = 2**30


@pytest.fixture
def allow_memory(runtime: Runtime) -> Iterator[Callable[[int], None]]:
    """Limits Redis's `maxmemory` to this percentage of its use until the test is over."""
    used = int(runtime.redis.info("memory")["used_memory"])

    def allow(percent: int) -> None:
        runtime.redis.config_set("maxmemory", used * percent // 100)

    yield allow
    runtime.redis.config_set("maxmemory", 0)


def test_a_redis_that_takes_nothing_more_is_unavailable(
    runtime: Runtime, org: Org, allow_memory: Callable[[int], None]
) -> None:
    batch = Batch([1], [1], [1], ["s"], ["a"], ["note"], ["e"], [b"{}"])
    allow_memory(50)
    with pytest.raises(Unavailable):
        stream.append(runtime.redis, org.id, org.slug, batch)


def test_nothing_is_taken_into_the_last_fifth_of_redis(
    runtime: Runtime, org: Org, allow_memory: Callable[[int], None]
) -> None:
    allow_memory(110)
    with pytest.raises(Unavailable) as refusal:
        Backlog(runtime.redis, LIMIT).require_room(org.id)
    assert (refusal.value.code, refusal.value.retry_after_secs) == ("backlog_full", 2)
    allow_memory(300)
    Backlog(runtime.redis, LIMIT).require_room(org.id)


def test_no_caller_waits_for_another_ones_measurement(
    runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    measuring, let_go = threading.Event(), threading.Event()

    def hang(_client: redis.Redis) -> dict[str, int]:
        measuring.set()
        assert let_go.wait(30)
        return {}

    monkeypatch.setattr(backlog, "measure", hang)
    shared = Backlog(runtime.redis, LIMIT)
    first = threading.Thread(target=shared.require_room, args=(org.id,))
    first.start()
    try:
        assert measuring.wait(30)
        shared.require_room(org.id)
        assert first.is_alive()
    finally:
        let_go.set()
        first.join()
