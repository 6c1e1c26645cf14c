"""Accepts only archives with the tables that are here: their names become parts of statements."""

from datetime import datetime

from sqlalchemy import Connection

from shared.foundation.deployment.runtime import Runtime
from shared.upkeep.backup import in_clickhouse, in_postgres, in_redis
from shared.upkeep.backup.manifest import BackupTable, Manifest, refused
from shared.upkeep.backup.tenant import is_exported


def require_known(runtime: Runtime, connection: Connection, found: Manifest) -> None:
    """Raises `Conflict` unless each table is one of this release, with its columns and types.

    Of an organization it has to be one with rows of organizations. Its moments have to be moments:
    they are read after rows were written. Reads the manifest only.
    """
    for name in ("point_at", "snapshot_at", "finished_at"):
        _require_moment(name, getattr(found, name))
    known = {
        (table.store, table.name): table
        for table in (
            *in_redis.tables(),
            *in_postgres.tables(connection),
            *in_clickhouse.tables(runtime.clickhouse),
        )
    }
    of_one = found.kind == "organization"
    for table in found.tables:
        here = known.pop((table.store, table.name), None)
        if here is None or (of_one and table.store == "postgres" and not is_exported(here)):
            raise refused(f"it has the table {table.name!r:.100}, where none is expected")
        _require_same(table, here)
    if of_one and [one.rows for one in found.tables if one.name == "organizations"] != [1]:
        raise refused("it has not one organization")


def _require_moment(name: str, text: str) -> None:
    try:
        has_zone = datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        has_zone = False
    if not has_zone:
        raise refused(f"its {name} is no moment")


def _require_same(table: BackupTable, here: BackupTable) -> None:
    if table.columns != here.columns:
        raise refused(f"{table.name} has other columns than here")
    if [file.name for file in table.files] != [
        table.file_name(number) for number in range(len(table.files))
    ]:
        raise refused(f"the files of {table.name} have other names")
    if sum(file.rows for file in table.files) != table.rows or any(
        file.rows <= 0 for file in table.files
    ):
        raise refused(f"{table.name} has not the rows of its files")
