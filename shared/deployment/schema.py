"""The schemas of both databases: refuses to run on another version than this release's."""

from shared.clickhouse import ClickHouse
from shared.clickhouse import migrate as clickhouse_migrations
from shared.core.errors import ConfigurationError
from shared.postgres import Postgres
from shared.postgres.revisions import current_revision, revisions


def require_not_newer(postgres: Postgres, clickhouse: ClickHouse) -> None:
    """Raises `ConfigurationError` if a newer release made the schema."""
    revision = current_revision(postgres.engine)
    if revision is not None and revision not in revisions():
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
        current_revision(postgres.engine) != revisions()[-1]
    ) or clickhouse_migrations.current_version(clickhouse) < clickhouse_migrations.LATEST
    if behind:
        raise ConfigurationError("the databases are behind this release: run `bin/release` first")
