"""Whether the three stores answer, and waiting until they do."""

import time
from collections.abc import Callable, Collection, Mapping

from clickhouse_driver.errors import ServerException
from sqlalchemy import text

from shared.core.errors import ConfigurationError, Unavailable
from shared.deployment.runtime import Runtime
from shared.queue import unavailable_when_redis_is_gone

_PAUSE_SECS = 0.5


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


# By the prefix of the variable that says where the store is.
STORES: Mapping[str, Callable[[Runtime], None]] = {
    "postgres": ping_postgres,
    "clickhouse": ping_clickhouse,
    "redis": ping_redis,
}
_NAMES = {"postgres": "PostgreSQL", "clickhouse": "ClickHouse", "redis": "Redis"}


def wait_for_stores(
    runtime: Runtime, names: Collection[str] = tuple(STORES), *, timeout_secs: float = 30.0
) -> None:
    """Returns once the named stores answer: servers that are started together may take turns.

    Raises `Unavailable` naming the one that does not within `timeout_secs`, `ConfigurationError`
    when ClickHouse answers that it will have nothing to do with us.
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
    """What the driver said, on one line; drivers leave passwords out of it."""
    return " ".join(str(getattr(error.__cause__, "orig", error.__cause__)).split())
