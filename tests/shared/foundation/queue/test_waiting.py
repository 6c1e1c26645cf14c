"""The time up to which each organization's events are stored, by the clock that stamps batches."""

from datetime import UTC, datetime, timedelta
from typing import Any

from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.waiting import SETTLE, event_stream, stored_until_each
from shared.intake.ingest.batch import Batch
from shared.intake.ingest.stream import append, remove
from tests.support.runtime import make_org


def redis_now(runtime: Runtime) -> datetime:
    answer: Any = runtime.redis.time()
    return datetime.fromtimestamp(answer[0], UTC) + timedelta(microseconds=answer[1])


def test_each_organization_waits_for_its_own_oldest_batch(runtime: Runtime) -> None:
    idle, waiting = make_org(runtime), make_org(runtime)
    batch = Batch([1], [1], [1], ["s"], ["a"], ["note"], ["e"], [b"{}"])
    for _ in range(2):
        append(runtime.redis, waiting.id, waiting.slug, batch)
    entries: Any = runtime.redis.xrange(event_stream(waiting.id), count=1)
    arrived_ms = int(entries[0][0].partition(b"-")[0])
    before = redis_now(runtime)
    moments = stored_until_each(runtime.redis, [waiting.id, idle.id])
    after = redis_now(runtime)
    assert moments[0] == datetime.fromtimestamp(arrived_ms / 1000, UTC) - SETTLE
    # To the millisecond, as batches are stamped.
    assert before - timedelta(milliseconds=1) <= moments[1] + SETTLE <= after
    remove(runtime.redis, waiting.id)
    [moment] = stored_until_each(runtime.redis, [waiting.id])
    assert moment >= moments[1]


def test_of_no_organization_nothing_is_asked(runtime: Runtime) -> None:
    assert stored_until_each(runtime.redis, []) == []
