"""Each server keeps acknowledged data when it is killed, and comes back on the same port."""

from dataclasses import asdict
from pathlib import Path

import psycopg2
import pytest
from clickhouse_driver import Client
from clickhouse_driver.errors import ServerException
from redis import Redis

from devstack import DevStack
from devstack.ports import free_port
from devstack.redis import RedisServer
from devstack.server import Server
from devstack.state import StateFile
from tests.support.machine import may_go_first
from tests.support.processes import wait_until
from tests.support.stack import running_stack


def restart(server: Server) -> None:
    port = server.port
    server.kill()
    assert server.pid is None
    server.start()
    server.wait_ready()
    assert server.port == port


def test_postgres_keeps_what_was_committed(stack: DevStack) -> None:
    def run(statement: str) -> list[tuple[int]]:
        with psycopg2.connect(stack.urls.database_url) as connection, connection.cursor() as cursor:
            cursor.execute(statement)
            rows = cursor.fetchall() if cursor.description else []
        connection.close()
        return rows

    run("CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n")
    restart(stack.postgres)
    assert run("SELECT count(*) FROM kept") == [(1000,)]
    run("DROP TABLE kept")


def test_redis_keeps_what_it_says_is_on_disk(stack: DevStack) -> None:
    # WAITAOF only covers writes of the same connection, and a busy disk may take a minute.
    with Redis.from_url(
        stack.urls.redis_url, single_connection_client=True, socket_timeout=None
    ) as client:
        for number in range(1000):
            client.rpush("kept", number)
        assert client.waitaof(1, 0, 120_000)[0] == 1
    restart(stack.redis)
    with Redis.from_url(stack.urls.redis_url) as client:
        assert client.llen("kept") == 1000
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        client.delete("kept")


class SlowRedis(RedisServer):
    """A server that takes a second to load the 1,000 keys of its file."""

    def _command(self) -> list[str]:
        # Between so many bytes of its file it answers, and refuses everything but INFO.
        answering = ("--loading-process-events-interval-bytes", "1024")
        return [*super()._command(), "--key-load-delay", "1000", *answering]


@pytest.mark.flow
def test_redis_is_ready_when_it_has_loaded_its_file(tmp_path: Path) -> None:
    server = SlowRedis(StateFile(tmp_path), free_port())
    server.start()
    server.wait_ready()
    try:
        with Redis.from_url(server.url) as client:
            client.mset({f"key-{number}": number for number in range(1000)})
            client.bgrewriteaof()
            wait_until(lambda: client.info("persistence")["aof_rewrites"] == 1)
            wait_until(lambda: not client.info("persistence")["aof_rewrite_in_progress"])
        restart(server)
        with Redis.from_url(server.url, retry=None) as client:
            assert client.dbsize() == 1000
    finally:
        server.kill()


@pytest.mark.skipif(not may_go_first(), reason="only root may, and only Linux has sessions")
def test_clickhouse_goes_before_other_sessions(stack: DevStack) -> None:
    assert Path(f"/proc/{stack.clickhouse.pid}/autogroup").read_text().split()[-1] == "-10"


def test_clickhouse_keeps_what_was_inserted(stack: DevStack) -> None:
    client = Client.from_url(stack.urls.clickhouse_url)
    client.execute("CREATE TABLE kept (n UInt32) ENGINE = MergeTree ORDER BY n")
    for start in range(0, 1000, 100):
        client.execute("INSERT INTO kept VALUES", [(n,) for n in range(start, start + 100)])
    client.disconnect()
    restart(stack.clickhouse)
    client = Client.from_url(stack.urls.clickhouse_url)
    assert client.execute("SELECT uniqExact(n) FROM kept") == [(1000,)]
    client.execute("DROP TABLE kept")
    client.disconnect()


@pytest.mark.flow
def test_clickhouse_stops_in_order() -> None:
    with running_stack({"clickhouse"}) as stack:
        stack.clickhouse.stop(timeout=60)
        child = stack.clickhouse._process
        assert child is not None
        assert child.returncode == 0


def test_reader_only_reads(stack: DevStack) -> None:
    client = Client.from_url(stack.urls.clickhouse_readonly_url)
    try:
        settings = dict(
            client.execute(
                "SELECT name, value FROM system.settings WHERE name IN "
                "('readonly', 'use_query_cache', 'use_query_condition_cache')"
            )
        )
        assert settings == {
            "readonly": "1",
            "use_query_cache": "0",
            "use_query_condition_cache": "0",
        }
        with pytest.raises(ServerException):
            client.execute("CREATE TABLE refused (n UInt8) ENGINE = Memory")
    finally:
        client.disconnect()


def test_everything_listens_on_loopback_only(stack: DevStack) -> None:
    for url in asdict(stack.urls).values():
        assert "@127.0.0.1:" in url or "//127.0.0.1:" in url
    with Redis.from_url(stack.urls.redis_url) as client:
        assert client.config_get("bind") == {"bind": "127.0.0.1"}
    with psycopg2.connect(stack.urls.database_url) as connection, connection.cursor() as cursor:
        cursor.execute("SHOW listen_addresses")
        assert cursor.fetchone() == ("127.0.0.1",)
    connection.close()
