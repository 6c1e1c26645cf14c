"""The wait for Redis's disk covers what was written, and is never taken for granted."""

from unittest.mock import patch

import pytest

from shared.core.errors import Unavailable
from shared.deployment.runtime import Runtime
from shared.events.ingest.disk_sync import DiskSync, OwnConnection


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
    with DiskSync(enabled=True).covering(connection):
        connection.client.set("disk-sync-test", b"1", px=1000)


def test_a_connection_that_was_closed_in_a_pause_is_made_again(connection: OwnConnection) -> None:
    sync = DiskSync(enabled=True)
    for _ in range(2):
        with patch("shared.events.ingest.disk_sync._FRESH_SECS", -1), sync.covering(connection):
            connection.client.set("disk-sync-test", b"1", px=1000)
        connection.client.connection_pool.disconnect()
    assert connection.made == 2


def test_a_connection_that_was_replaced_proves_nothing(connection: OwnConnection) -> None:
    """The new one has written nothing, so Redis would answer at once."""
    sync = DiskSync(enabled=True)

    def write_and_lose() -> None:
        with sync.covering(connection):
            connection.client.set("disk-sync-test", b"1", px=1000)
            connection.client.connection_pool.disconnect()

    with pytest.raises(Unavailable):
        write_and_lose()


def test_a_disk_that_is_too_slow_is_no_success(connection: OwnConnection) -> None:
    slow = patch.object(connection.client, "waitaof", return_value=[0, 0])
    covering = DiskSync(enabled=True).covering(connection)
    with slow, pytest.raises(Unavailable, match="too slow"), covering:
        pass
