"""Places of an organization where they cannot be held."""

import redis

from shared.foundation.clickhouse import ClickHouse
from shared.reading.costs.places import OF_COSTS, cost_place


def test_without_redis_reads_go_on() -> None:
    nowhere = redis.Redis(port=1, socket_connect_timeout=1)
    clickhouse = ClickHouse("clickhouse://127.0.0.1:1/nothing")
    done = 0
    for _ in range(OF_COSTS.at_once + 1):
        with cost_place(nowhere, clickhouse, "an organization"):
            done += 1
    assert done == OF_COSTS.at_once + 1
