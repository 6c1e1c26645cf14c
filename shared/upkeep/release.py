"""Migrates both databases to this release: `python -m shared.upkeep.release`."""

import sys

import click
from sqlalchemy import text

from shared.clickhouse import migrate as clickhouse_migrations
from shared.core.config import load_settings
from shared.core.errors import ConfigurationError, Unavailable
from shared.core.logs import configure_logging
from shared.deployment.migration import release
from shared.deployment.runtime import Runtime
from shared.deployment.stores import wait_for_stores
from shared.permissions.custom_sets import service as custom_sets
from shared.postgres.revisions import current_revision

# Any number that no other advisory lock of this project uses.
_LOCK_ID = 7_237_003


def run(runtime: Runtime) -> None:
    """Waits for the databases, then migrates them; only one release runs at a time.

    Raises `ConfigurationError` if a newer release made the schema or, after the migration, if
    DEFAULT_USER_PERMISSIONS names no permission set; `Unavailable` if a database does not answer
    within 30 s.
    """
    click.echo("waiting for PostgreSQL and ClickHouse ...")
    wait_for_stores(runtime, ("postgres", "clickhouse"))
    with runtime.postgres.engine.connect() as connection:
        # If two releases start at once, the second waits and then finds everything done. The lock
        # ends with the connection.
        connection.execute(text("SET statement_timeout = 0"))
        connection.execute(text("SELECT pg_advisory_lock(:id)"), {"id": _LOCK_ID})
        readonly_url = runtime.settings.clickhouse_readonly_url
        release(runtime.postgres, runtime.clickhouse, readonly_url=readonly_url)
        connection.invalidate()
    with runtime.postgres.transaction() as session:
        custom_sets.require_default(session, runtime.settings)
    revision = current_revision(runtime.postgres.engine)
    version = clickhouse_migrations.current_version(runtime.clickhouse)
    click.echo(f"PostgreSQL stands at {revision}, ClickHouse at {version:04d}")


@click.command()
def main() -> None:
    """Migrates both databases; safe to run again."""
    try:
        settings = load_settings()
        configure_logging(settings, "release")
        runtime = Runtime.connect(settings)
        run(runtime)
    except (ConfigurationError, Unavailable) as error:
        click.echo(f"release: {error}", err=True)
        sys.exit(1)
    runtime.close()


if __name__ == "__main__":
    main()
