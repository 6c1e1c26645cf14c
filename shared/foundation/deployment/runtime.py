"""The settings and connections of a process, created once and passed along."""

from dataclasses import dataclass

import redis

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.config import Settings
from shared.foundation.postgres import Postgres
from shared.foundation.queue import Broker, Queue, connect_redis, make_broker


@dataclass(frozen=True)
class Runtime:
    """The settings and connections; each connects on first use, so a store may be down at start."""

    settings: Settings
    postgres: Postgres
    clickhouse: ClickHouse
    redis: redis.Redis
    broker: Broker
    queue: Queue

    @classmethod
    def connect(cls, settings: Settings) -> "Runtime":
        """Creates the runtime of these settings."""
        client = connect_redis(settings.redis_url)
        broker = make_broker(settings.redis_url)
        postgres = Postgres(settings.database_url, pool_size=settings.database_pool_size)
        if settings.traces_url is not None:
            from shared.foundation.postgres import traced

            traced.follow(postgres.engine)
        return cls(
            settings=settings,
            postgres=postgres,
            clickhouse=ClickHouse(
                settings.clickhouse_url,
                pool_size=settings.clickhouse_pool_size,
                cluster=settings.clickhouse_cluster,
            ),
            redis=client,
            broker=broker,
            queue=Queue(broker, client),
        )

    def close(self) -> None:
        """Closes all connections."""
        self.postgres.close()
        self.clickhouse.close()
        self.redis.close()
        self.broker.close()
