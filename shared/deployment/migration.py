"""Migrates the schemas of both databases together."""

from shared.clickhouse import ClickHouse
from shared.clickhouse import migrate as clickhouse_migrations
from shared.clickhouse.published import publish
from shared.deployment.schema import require_not_newer
from shared.postgres import Postgres
from shared.postgres import migrate as postgres_migrations


def release(postgres: Postgres, clickhouse: ClickHouse, *, readonly_url: str | None = None) -> None:
    """Migrates both databases to what this code expects; safe to run again.

    With CLICKHOUSE_READONLY_URL it also creates the views that people's SQL reads.
    """
    require_not_newer(postgres, clickhouse)
    postgres_migrations.migrate(postgres.engine)
    clickhouse_migrations.migrate(clickhouse)
    if readonly_url is not None:
        publish(clickhouse, readonly_url)
