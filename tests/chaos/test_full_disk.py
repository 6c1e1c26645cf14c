"""A Redis whose disk was full, and which is killed afterwards, starts again with everything."""

from collections.abc import Iterator

import msgspec
import pytest
import redis
from redis.exceptions import ResponseError

from bench.storm import surroundings
from bench.storm.surroundings import Surroundings, surrounded
from devstack.ports import free_port
from devstack.redis import RedisServer
from devstack.state import StateFile
from shared.foundation.deployment.runtime import Runtime
from tests.support.processes import running, wait_until

pytestmark = [pytest.mark.flow, pytest.mark.timeout(300)]


@pytest.fixture
def around(monkeypatch: pytest.MonkeyPatch) -> Iterator[Surroundings]:
    """A small disk for Redis."""
    monkeypatch.setattr(surroundings, "_DISK_BYTES", {"redis": 8 << 20})
    with surrounded(None) as made:
        if not made.disks:
            pytest.skip("mounting a disk needs root")
        yield made


def test_a_redis_whose_disk_was_full_starts_again(runtime: Runtime, around: Surroundings) -> None:
    server = RedisServer(StateFile(around.directory), free_port())
    server.start()
    server.wait_ready()
    try:
        # WAITAOF needs the connection of the write, and the time that a busy disk takes.
        client = redis.Redis.from_url(
            server.url, single_connection_client=True, socket_timeout=None
        )
        # Only a file that a rewrite has begun gets a hole.
        client.bgrewriteaof()
        wait_until(lambda: rewrites(client) == 1)
        settings = msgspec.structs.replace(runtime.settings, redis_url=server.url)
        with running("workers.clock", settings=settings):
            wait_until(lambda: client.dbsize() > 0)
            around.fill("redis")
            wait_until(lambda: is_refused(client))
            around.empty("redis")
            wait_until(lambda: rewrites(client) == 2)
            client.set("after", "1")
            assert client.waitaof(1, 0, 60_000)[0] == 1
        server.kill()
        server.start()
        server.wait_ready()
        assert redis.Redis.from_url(server.url).get("after") == b"1"
    finally:
        server.kill()


def is_refused(client: redis.Redis) -> bool:
    """Returns whether the server says that it cannot write to its disk."""
    try:
        client.set("filled", "x" * 1000)
    except ResponseError as error:
        return "MISCONF" in str(error)
    return False


def rewrites(client: redis.Redis) -> int:
    """Returns the number of times that the file was written again."""
    facts = client.info("persistence")
    return 0 if facts["aof_rewrite_in_progress"] else int(facts["aof_rewrites"])
