"""The reasons against a release now, found before it changes anything."""

from collections.abc import Iterable, Iterator

from clickhouse_driver.errors import ServerException
from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError

from shared.access.permissions.custom_sets import service as custom_sets
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse import migrate as clickhouse_migrations
from shared.foundation.core.errors import ConfigurationError
from shared.foundation.deployment import floor
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.deployment.schema import require_not_newer
from shared.foundation.postgres.revisions import current_revision
from shared.upkeep.release_plan import MigrationStep

_MAY_CREATE = "SELECT has_schema_privilege(current_schema(), 'CREATE')"
_FOREIGN_TABLES = """
SELECT tablename FROM pg_tables
WHERE schemaname = current_schema() AND NOT pg_has_role(tableowner, 'USAGE') ORDER BY 1 LIMIT 1
"""
# A migration would wait for their locks, and give up again and again.
_LONG_TRANSACTIONS = """
SELECT pid, round(extract(epoch FROM clock_timestamp() - xact_start)), state FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
    AND xact_start < clock_timestamp() - interval '60 seconds'
"""
_GRANTS = (
    "CHECK GRANT SELECT, INSERT, ALTER, CREATE TABLE, CREATE VIEW, DROP TABLE, DROP VIEW ON {db}.*"
)
_FREE = "SELECT min(free) FROM (SELECT max(free_space) AS free FROM {disks} GROUP BY hostName())"
_MUTATIONS = "SELECT count() FROM {mutations} WHERE database = {{database:String}} AND NOT is_done"


def require_possible(runtime: Runtime, steps: Iterable[MigrationStep]) -> None:
    """Raises `ConfigurationError` with the first reason why the release would fail."""
    require_not_newer(runtime.postgres, runtime.clickhouse)
    _require_rights(runtime)
    _require_default_set(runtime)
    needed = max((step.room for step in steps), default=0)
    _require_room(runtime.clickhouse, needed)


def warnings(runtime: Runtime) -> Iterator[str]:
    """Yields what may make the release slow, or processes that it would break."""
    with runtime.postgres.engine.connect() as connection:
        for pid, secs, state in connection.execute(text(_LONG_TRANSACTIONS)):
            yield (
                f"PostgreSQL's process {pid} has had a transaction open for {secs} s ({state}):"
                " a migration may wait for its locks"
            )
    layout = runtime.clickhouse.layout
    sql = _MUTATIONS.format(mutations=layout.everywhere("system.mutations"))
    [(count,)] = runtime.clickhouse.rows(sql, {"database": layout.database})
    if count:
        yield f"ClickHouse has {count} unfinished mutations: changes of tables may wait for them"
    revision = current_revision(runtime.postgres.engine)
    version = clickhouse_migrations.current_version(runtime.clickhouse)
    if revision is not None and not floor.Versions(revision, version).reaches(floor.PREVIOUS):
        yield (
            f"this release supports processes from {floor.PREVIOUS} on: stop older ones before it,"
            " or run the releases in between first"
        )


def _require_rights(runtime: Runtime) -> None:
    with runtime.postgres.engine.connect() as connection:
        if not connection.scalar(text(_MAY_CREATE)):
            raise ConfigurationError("the user of DATABASE_URL may not create tables: grant CREATE")
        table = connection.scalar(text(_FOREIGN_TABLES))
    if table is not None:
        raise ConfigurationError(
            f"the user of DATABASE_URL does not own the table {table}: release as its owner"
        )
    database = runtime.clickhouse.layout.database
    try:
        [(granted,)] = runtime.clickhouse.rows(_GRANTS.format(db=f"`{database}`"))
    except ServerException:
        return  # a server that does not know CHECK GRANT
    if not granted:
        raise ConfigurationError(
            f"the user of CLICKHOUSE_URL may not create, alter and drop tables in {database}"
        )


def _require_default_set(runtime: Runtime) -> None:
    """An empty database has no sets yet; the release checks the setting again at its end."""
    try:
        with runtime.postgres.transaction() as session:
            custom_sets.require_default(session, runtime.settings)
    except ProgrammingError:
        return


def _require_room(clickhouse: ClickHouse, needed: int) -> None:
    [(free,)] = clickhouse.rows(_FREE.format(disks=clickhouse.layout.everywhere("system.disks")))
    if needed and free < 1.2 * needed:
        raise ConfigurationError(
            f"ClickHouse has {free / 1e6:,.0f} MB free, and a step copies {needed / 1e6:,.0f} MB:"
            " give it more room"
        )
