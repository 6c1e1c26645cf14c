"""Applies the ClickHouse migrations in order and reports the version of a database."""

from shared.foundation.clickhouse.client import ClickHouse
from shared.foundation.clickhouse.ddl import Ddl
from shared.foundation.clickhouse.migrations import MIGRATIONS
from shared.foundation.core.logs import get_logger

log = get_logger(__name__)

# One row per step, up or down. The newest row of a version shows whether it is applied.
_LEDGER = """
CREATE TABLE IF NOT EXISTS {table:schema_migrations} (
    version UInt32,
    applied Bool,
    at DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC')
)
ENGINE = {engine:MergeTree}{sharded_by:version}
ORDER BY (version, at)
"""

LATEST = len(MIGRATIONS)


def current_version(clickhouse: ClickHouse) -> int:
    """Returns the newest applied migration, 0 for an empty database."""
    exists = clickhouse.rows("EXISTS TABLE schema_migrations")[0][0]
    if not exists:
        return 0
    rows = clickhouse.rows(
        "SELECT coalesce(max(version), 0) FROM ("
        " SELECT version, argMax(applied, at) AS is_applied FROM schema_migrations GROUP BY version"
        ") WHERE is_applied"
    )
    return int(rows[0][0])


def migrate(clickhouse: ClickHouse, target: int = LATEST) -> None:
    """Steps up or down to `target`; after a failed step the version is the one before it."""
    ddl = Ddl(clickhouse)
    ddl.run(_LEDGER)
    version = current_version(clickhouse)
    while version < target:
        MIGRATIONS[version].up(ddl)
        version += 1
        _record(clickhouse, version, applied=True)
    while version > target:
        MIGRATIONS[version - 1].down(ddl)
        _record(clickhouse, version, applied=False)
        version -= 1


def _record(clickhouse: ClickHouse, version: int, *, applied: bool) -> None:
    name = MIGRATIONS[version - 1].__name__.rsplit(".", 1)[-1]
    clickhouse.insert("schema_migrations", {"version": [version], "applied": [applied]})
    log.info("clickhouse_migrated", migration=name, applied=applied)
