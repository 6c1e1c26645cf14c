"""The schemas of both databases: migrates them together, and refuses to run on another version."""

from shared.clickhouse import ClickHouse
from shared.clickhouse import migrate as clickhouse_migrations
from shared.clickhouse.published import publish
from shared.core.errors import ConfigurationError
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


def require_not_newer(postgres: Postgres, clickhouse: ClickHouse) -> None:
    """Raises `ConfigurationError` if a newer release made the schema."""
    revision = postgres_migrations.current_revision(postgres.engine)
    if revision is not None and revision not in postgres_migrations.revisions(postgres.engine):
        raise ConfigurationError(
            f"PostgreSQL stands at revision {revision}, which this release does not know:"
            " run the newer release, or migrate down with it first"
        )
    version = clickhouse_migrations.current_version(clickhouse)
    if version > clickhouse_migrations.LATEST:
        raise ConfigurationError(
            f"ClickHouse stands at migration {version}, this release knows"
            f" {clickhouse_migrations.LATEST}: run the newer release, or migrate down with it first"
        )


def require_current(postgres: Postgres, clickhouse: ClickHouse) -> None:
    """Raises `ConfigurationError` unless both schemas are exactly this release's."""
    require_not_newer(postgres, clickhouse)
    behind = (
        postgres_migrations.current_revision(postgres.engine)
        != postgres_migrations.revisions(postgres.engine)[-1]
    ) or clickhouse_migrations.current_version(clickhouse) < clickhouse_migrations.LATEST
    if behind:
        raise ConfigurationError("the databases are behind this release: run `bin/release` first")
