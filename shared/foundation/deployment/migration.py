"""Migrates the schemas of both databases together, while the previous release serves."""

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse import migrate as clickhouse_migrations
from shared.foundation.clickhouse.published import publish
from shared.foundation.deployment import floor
from shared.foundation.deployment.schema import require_not_newer
from shared.foundation.postgres import Postgres
from shared.foundation.postgres import migrate as postgres_migrations


def release(postgres: Postgres, clickhouse: ClickHouse, *, readonly_url: str | None = None) -> None:
    """Migrates both databases to what this code expects; safe to run again after any failure.

    With CLICKHOUSE_READONLY_URL it also creates the views that people's SQL reads.
    """
    require_not_newer(postgres, clickhouse)
    # Before the first change, so that a process of the previous release may start at any moment.
    _record_floor(postgres)
    postgres_migrations.migrate(postgres.engine)
    _record_floor(postgres)  # an empty database had no place for it
    clickhouse_migrations.migrate(clickhouse)
    if readonly_url is not None:
        publish(clickhouse, readonly_url)


def _record_floor(postgres: Postgres) -> None:
    with postgres.engine.begin() as connection:
        floor.record(connection)
