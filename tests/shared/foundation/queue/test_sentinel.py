"""The client that `REDIS_URL` with sentinels gives; tests/flows has failovers."""

from contextlib import closing

import pytest
from redis import ConnectionPool
from redis.exceptions import TimeoutError as RedisTimeout
from redis.sentinel import SentinelConnectionPool, SentinelManagedSSLConnection

from shared.foundation.queue import connect_redis
from shared.intake.ingest.write_sync import OwnConnection
from tests.support.sentinels import running_sentinels

URL = (
    "rediss+sentinel://watch:p%40ss@one:5000,two/main/3?ssl_ca_certs=/ca.pem&socket_timeout=7"
    "&sentinel_username=asker&sentinel_password=a%26b"
)


def test_options_go_to_the_servers_and_the_sentinels_login_to_them() -> None:
    pool = connect_redis(URL).connection_pool
    assert isinstance(pool, SentinelConnectionPool)
    assert issubclass(pool.connection_class, SentinelManagedSSLConnection)
    assert _of(pool, "username", "password", "db", "ssl_ca_certs", "socket_timeout") == (
        ("watch", "p@ss", 3, "/ca.pem", 7)
    )
    assert "host" not in pool.connection_kwargs
    assert "sentinel_password" not in pool.connection_kwargs
    sentinels = [sentinel.connection_pool for sentinel in pool.sentinel_manager.sentinels]
    assert [_of(each, "host", "port") for each in sentinels] == [("one", 5000), ("two", 26379)]
    for each in sentinels:
        assert _of(each, "username", "password", "ssl_ca_certs") == ("asker", "a&b", "/ca.pem")
        assert each.connection_kwargs["socket_timeout"] == 1


def _of(pool: ConnectionPool, *names: str) -> tuple[object, ...]:
    return tuple(pool.connection_kwargs[name] for name in names)


@pytest.mark.flow
def test_a_late_answer_is_not_that_of_the_next_command() -> None:
    with (
        running_sentinels() as servers,
        closing(connect_redis(f"{servers.url}&socket_timeout=0.3")) as client,
    ):
        own = OwnConnection(client)
        for one in (client, own.client):
            with pytest.raises(RedisTimeout):
                one.blpop(["nothing"], 1)
            assert one.echo("this") == b"this"
        assert own.made == 2
