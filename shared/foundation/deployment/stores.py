"""Checks whether the three stores answer, and waits until they do."""

import time
from collections.abc import Callable, Collection, Mapping

from clickhouse_driver.errors import ServerException
from sqlalchemy import text

from shared.foundation.core.errors import ConfigurationError, Unavailable
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue import unavailable_when_redis_is_gone

_PAUSE_SECS = 0.1


def ping_postgres(runtime: Runtime) -> None:
    """Raises `Unavailable` unless PostgreSQL answers."""
    with runtime.postgres.transaction() as session:
        session.execute(text("SELECT 1"))


def ping_clickhouse(runtime: Runtime) -> None:
    """Raises `Unavailable` unless ClickHouse answers."""
    runtime.clickhouse.rows("SELECT 1")


def ping_redis(runtime: Runtime) -> None:
    """Raises `Unavailable` unless Redis answers."""
    with unavailable_when_redis_is_gone():
        runtime.redis.ping()


# Keyed by the prefix of the variable with the store's address.
STORES: Mapping[str, Callable[[Runtime], None]] = {
    "postgres": ping_postgres,
    "clickhouse": ping_clickhouse,
    "redis": ping_redis,
}
_NAMES = {"postgres": "PostgreSQL", "clickhouse": "ClickHouse", "redis": "Redis"}


def wait_for_stores(
    runtime: Runtime, names: Collection[str] = tuple(STORES), *, timeout_secs: float = 30.0
) -> None:
    """Waits until the named stores answer; servers that start together may take a while.

    Raises `Unavailable` naming a store that does not answer within `timeout_secs`, and
    `ConfigurationError` if ClickHouse answers but refuses the connection.
    """
    deadline = time.monotonic() + timeout_secs
    for name in names:
        _wait_for(runtime, name, deadline)


def _wait_for(runtime: Runtime, name: str, deadline: float) -> None:
    while True:
        try:
            STORES[name](runtime)
        except Unavailable as error:
            if time.monotonic() < deadline:
                time.sleep(_PAUSE_SECS)
                continue
            raise Unavailable(f"{_NAMES[name]} does not answer: {_reason(error)}") from error
        except ServerException as error:
            reason = error.message.partition("\n")[0]
            raise ConfigurationError(f"ClickHouse refuses CLICKHOUSE_URL: {reason}") from error
        return


def _reason(error: Unavailable) -> str:
    """Returns the driver's message on one line; drivers leave passwords out of it."""
    return " ".join(str(getattr(error.__cause__, "orig", error.__cause__)).split())
