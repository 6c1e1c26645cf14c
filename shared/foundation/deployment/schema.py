"""The schemas of both databases: refuses to run on those that this release cannot use."""

from sqlalchemy import text

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse import migrate as clickhouse_migrations
from shared.foundation.core.errors import ConfigurationError
from shared.foundation.core.logs import get_logger
from shared.foundation.deployment import floor
from shared.foundation.deployment.floor import Versions
from shared.foundation.postgres import Postgres
from shared.foundation.postgres.revisions import current_revision, revisions

log = get_logger(__name__)

# The table that exists while a restore (`shared.upkeep.backup`) is not finished.
UNFINISHED_RESTORE = "unfinished_restore"


def own_versions() -> Versions:
    """Returns the versions that this code's migrations lead to."""
    return Versions(revisions()[-1], clickhouse_migrations.LATEST)


def found_versions(postgres: Postgres, clickhouse: ClickHouse) -> Versions:
    """Returns the versions of the databases; "" and 0 for empty ones."""
    return Versions(current_revision(postgres.engine) or "", _version(clickhouse))


def require_not_newer(postgres: Postgres, clickhouse: ClickHouse) -> None:
    """Raises `ConfigurationError` if a newer release made the schema."""
    reason = _newer(current_revision(postgres.engine), _version(clickhouse))
    if reason is not None:
        raise ConfigurationError(f"{reason}: run the newer release, or migrate down with it first")


def require_current(postgres: Postgres, clickhouse: ClickHouse) -> None:
    """Raises `ConfigurationError` unless this code can run on both schemas.

    They are this release's, or those of a newer one that recorded that this code still runs on
    them: while a newer release is being rolled out, processes of this one may start again.
    A deployment that a restore has filled only in part is refused too.
    """
    revision, version = current_revision(postgres.engine), _version(clickhouse)
    own = own_versions()
    reason = _newer(revision, version)
    if reason is not None:
        oldest = floor.recorded(postgres.engine)
        if oldest is None or not own.reaches(oldest):
            raise ConfigurationError(
                f"{reason} and which does not support it: run the newer release, or migrate down"
                " with it first"
            )
        log.warning("schema_is_newer", postgres=revision, clickhouse=version)
    if (revision in revisions()[:-1]) or revision is None or version < own.clickhouse:
        raise ConfigurationError("the databases are behind this release: run `bin/release` first")
    _require_no_restore(postgres)


def _require_no_restore(postgres: Postgres) -> None:
    with postgres.engine.connect() as connection:
        unfinished = text("SELECT to_regclass(:table) IS NOT NULL")
        if connection.scalar(unfinished, {"table": UNFINISHED_RESTORE}):
            raise ConfigurationError(
                "a restore is not finished: wait for it, or run the same"
                " `service-orgctl backup restore` again"
            )


def _version(clickhouse: ClickHouse) -> int:
    return clickhouse_migrations.current_version(clickhouse)


def _newer(revision: str | None, version: int) -> str | None:
    """Returns a sentence about the database that a newer release made, None if there is none."""
    if revision is not None and revision not in revisions():
        return f"PostgreSQL stands at revision {revision}, which this release does not know"
    if version > clickhouse_migrations.LATEST:
        return (
            f"ClickHouse stands at migration {version}, this release knows"
            f" {clickhouse_migrations.LATEST}"
        )
    return None
