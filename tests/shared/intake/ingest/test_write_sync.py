"""The wait for Redis's disk and replicas covers what was written, and is never assumed."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest
import redis
from redis.exceptions import ResponseError

from shared.foundation.core.errors import Unavailable
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue import unavailable_when_redis_is_gone
from shared.intake.ingest.write_sync import OwnConnection, WriteSync


@pytest.fixture
def connection(runtime: Runtime) -> OwnConnection:
    return OwnConnection(runtime.redis)


def test_pipelines_use_the_connection_of_the_wait(connection: OwnConnection) -> None:
    with connection.client.pipeline(transaction=True) as pipe:
        pipe.client_id()
        [of_pipeline] = pipe.execute()
    assert of_pipeline == connection.client.client_id()
    assert connection.made == 1


def test_a_write_is_waited_for(connection: OwnConnection) -> None:
    with WriteSync(disk=True).covering(connection):
        connection.client.set("write-sync-test", b"1", px=1000)


def test_a_connection_that_was_closed_in_a_pause_is_made_again(connection: OwnConnection) -> None:
    sync = WriteSync(disk=True)
    for _ in range(2):
        with patch("shared.intake.ingest.write_sync._FRESH_SECS", -1), sync.covering(connection):
            connection.client.set("write-sync-test", b"1", px=1000)
        connection.client.connection_pool.disconnect()
    assert connection.made == 2


def test_a_connection_that_was_replaced_proves_nothing(connection: OwnConnection) -> None:
    """The new one has written nothing, so Redis would answer at once."""
    sync = WriteSync(disk=True)

    def write_and_lose() -> None:
        with sync.covering(connection):
            connection.client.set("write-sync-test", b"1", px=1000)
            connection.client.connection_pool.disconnect()

    with pytest.raises(Unavailable):
        write_and_lose()


def test_a_disk_that_is_too_slow_is_no_success(connection: OwnConnection) -> None:
    slow = patch.object(connection.client, "waitaof", return_value=[0, 0])
    covering = WriteSync(disk=True).covering(connection)
    with slow, pytest.raises(Unavailable, match="too slow"), covering:
        pass


def test_too_few_replicas_are_no_success(connection: OwnConnection) -> None:
    covering = WriteSync(disk=False, replicas=1).covering(connection)
    with pytest.raises(Unavailable, match="too few replicas"), covering:
        connection.client.set("write-sync-test", b"1", px=1000)


@contextmanager
def configured(client: redis.Redis, name: str, value: str, usual: str) -> Iterator[None]:
    """Changes a variable of Redis for a while."""
    client.config_set(name, value)
    try:
        yield
    finally:
        client.config_set(name, usual)


def test_a_redis_without_an_append_only_file_is_not_waited_for(connection: OwnConnection) -> None:
    sync = WriteSync(disk=True)
    with configured(connection.client, "appendonly", "no", "yes"), sync.covering(connection):
        connection.client.set("write-sync-test", b"1", px=1000)


@pytest.mark.parametrize("sync", [WriteSync(disk=True), WriteSync(disk=False, replicas=1)])
def test_a_redis_that_became_a_replica_is_no_success(
    connection: OwnConnection, sync: WriteSync
) -> None:
    """Its answer to the wait is an error, as from a Redis that has no such command."""

    def write() -> None:
        with sync.covering(connection):
            connection.client.set("write-sync-test", b"1", px=1000)
            connection.client.replicaof("127.0.0.1", 1)

    try:
        with pytest.raises(Unavailable):
            write()
    finally:
        connection.client.replicaof("NO", "ONE")


def push_in_pipeline(client: redis.Redis, text: str) -> None:
    """Adds to a list that is none, with a write before it."""
    with unavailable_when_redis_is_gone(), client.pipeline(transaction=True) as pipe:
        pipe.set("write-sync-test", b"1", px=1000)
        pipe.lpush("write-sync-test", text)
        pipe.execute()


def test_a_redis_that_lacks_replicas_takes_no_writes(connection: OwnConnection) -> None:
    client = connection.client
    with configured(client, "min-replicas-to-write", "1", "0"):
        with pytest.raises(Unavailable), unavailable_when_redis_is_gone():
            client.set("write-sync-test", b"1")
        with pytest.raises(Unavailable):
            push_in_pipeline(client, "text")


def test_other_errors_stay_what_they_are(connection: OwnConnection) -> None:
    with pytest.raises(ResponseError, match=r"MISCONF.*WRONGTYPE"):
        push_in_pipeline(connection.client, "MISCONF")
