"""Restores a backup into an empty deployment.

A table of its own in PostgreSQL marks a restore that is not finished, and no process starts beside
it. A restore that was killed is run again: it removes what the first one wrote, and begins again.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from sqlalchemy import Connection, text

from shared.access.audit_log import record
from shared.access.organizations import CANARY_ID
from shared.foundation.cache.epoch import renew_epoch
from shared.foundation.core.errors import Conflict, Unavailable
from shared.foundation.deployment.floor import Versions
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.deployment.schema import UNFINISHED_RESTORE, found_versions
from shared.foundation.objects import Objects
from shared.foundation.queue import is_consumed, unavailable_when_redis_is_gone
from shared.foundation.queue.jobs import PERSIST_EVENTS
from shared.upkeep.backup import in_clickhouse, in_postgres, in_redis, manifest
from shared.upkeep.backup.accepting import require_known
from shared.upkeep.backup.files import Tell, blocks, lines
from shared.upkeep.backup.manifest import BackupTable, Manifest
from shared.upkeep.backup.settle import settle, watch_again

# The table that ClickHouse fills from the events that are inserted.
FED = "agent_sessions"
# Tables that a start fills by itself, with the rows that it may have made. The canary may have made
# rows in every table.
_MADE_BY_A_START = {
    "organizations": f"slug = 'default' OR id = '{CANARY_ID}'",
    "users": "email IN (SELECT email FROM first_members)",
    "memberships": "user_id IN (SELECT id FROM users WHERE email IN"
    " (SELECT email FROM first_members))",
    "first_members": "true",
    "api_keys": "org_id IS NULL",
    "evaluator_config": "true",
    "evaluator_breakers": "true",
    "audit_log": "true",
}


def restore(runtime: Runtime, objects: Objects, tell: Tell) -> Manifest:
    """Restores the backup; returns its manifest.

    Raises `Conflict` for a deployment that is not empty, whose workers run or whose schema is
    another one, and for a backup that is torn or changed. Raises `Unavailable` if a store is down.
    """
    found = manifest.read(objects)
    if found.kind != "deployment":
        raise Conflict("this is the export of an organization: use `org import`", code="wrong_kind")
    require_same_schema(runtime, found)
    with runtime.postgres.engine.connect() as connection:
        require_known(runtime, connection, found)
    _require_stopped(runtime)
    _begin(runtime, found, tell)
    with runtime.postgres.engine.begin() as connection:
        in_postgres.unbounded(connection)
        _restore_postgres(connection, objects, found, tell)
        _restore_clickhouse(runtime, objects, found, tell)
        settle(connection, found)
        _restore_redis(runtime, objects, found, tell)
    with runtime.postgres.transaction() as session:
        watch_again(runtime.clickhouse, session, found)
        organizations = [
            str(org_id) for org_id in session.scalars(text("SELECT id FROM organizations"))
        ]
    in_redis.activate(runtime.redis, organizations)
    renew_epoch(runtime.redis)
    with runtime.postgres.transaction() as session:
        session.execute(text(f"DROP TABLE {UNFINISHED_RESTORE}"))
        after = {"place": objects.url, "point_at": found.point_at}
        record(session, None, "backup.restore", target=found.id, name=objects.url, after=after)
    return found


def require_same_schema(runtime: Runtime, found: Manifest) -> None:
    """Raises `Conflict` unless the backup has the schema of this deployment."""
    from_backup = Versions(found.postgres_revision, found.clickhouse_version)
    here = found_versions(runtime.postgres, runtime.clickhouse)
    if from_backup != here:
        raise Conflict(
            f"the backup was made by release {found.release} with the schemas {from_backup}, and"
            f" this deployment has {here}: restore with that release, then run `bin/release` of the"
            " newer one",
            code="other_release",
        )


def _require_stopped(runtime: Runtime) -> None:
    with unavailable_when_redis_is_gone():
        running = is_consumed(runtime.redis, PERSIST_EVENTS.queue)
    if running:
        raise Conflict(
            "workers of this deployment run: stop all of its processes, wait 15 s and try again."
            " With bin/up: stop it, and start the stores alone with bin/up --stores",
            code="not_stopped",
        )


def _begin(runtime: Runtime, found: Manifest, tell: Tell) -> None:
    """Marks the restore, or empties what an unfinished one has written."""
    with runtime.postgres.engine.begin() as connection:
        in_postgres.unbounded(connection)
        marked = connection.scalar(text("SELECT to_regclass(:name)"), {"name": UNFINISHED_RESTORE})
        if marked is None:
            _require_empty(runtime, connection)
            connection.execute(text(f"CREATE TABLE {UNFINISHED_RESTORE} (backup text)"))
        else:
            tell("a restore was interrupted: beginning again")
            connection.execute(text(f"DELETE FROM {UNFINISHED_RESTORE}"))
        connection.execute(
            text(f"INSERT INTO {UNFINISHED_RESTORE} VALUES (:backup)"), {"backup": found.id}
        )
    # A deployment that has never been used may hold events of its canary.
    in_clickhouse.empty(runtime.clickhouse)
    in_redis.empty(runtime.redis)


def _require_empty(runtime: Runtime, connection: Connection) -> None:
    taken = []
    for table in in_postgres.tables(connection):
        made = _MADE_BY_A_START.get(table.name, "false")
        if any(column.name == "org_id" for column in table.columns):
            made += f" OR coalesce(org_id = '{CANARY_ID}', false)"
        query = f"SELECT 1 FROM {table.name} WHERE NOT ({made}) LIMIT 1"
        if connection.scalar(text(query)):
            taken.append(table.name)
    taken += [
        table.name
        for table in in_clickhouse.tables(runtime.clickhouse)
        if runtime.clickhouse.rows(
            f"SELECT 1 FROM {table.name} WHERE org_id != {{canary:String}} LIMIT 1",
            {"canary": str(CANARY_ID)},
        )
    ]
    if not in_redis.is_empty(runtime.redis):
        taken.append("the streams of Redis")
    if taken:
        raise Conflict(
            f"this deployment is not empty ({', '.join(taken)}): restore into a new one, after"
            " `bin/release`",
            code="not_empty",
        )


def _restore_postgres(
    connection: Connection, objects: Objects, found: Manifest, tell: Tell
) -> None:
    tables = found.of("postgres")
    in_postgres.empty(connection, [table.name for table in tables])
    for table in tables:
        tell(f"PostgreSQL: {table.name}, {table.rows:,} rows")
        added = 0
        for file in table.files:
            added += in_postgres.copy_in(
                connection, table.name, table.columns, lines(objects, file)
            )
        require_rows(table, added)
        in_postgres.advance_identities(connection, table)


def _restore_clickhouse(runtime: Runtime, objects: Objects, found: Manifest, tell: Tell) -> None:
    for table in found.of("clickhouse"):
        tell(f"ClickHouse: {table.name}, {table.rows:,} rows")
        in_clickhouse.copy_in(runtime.clickhouse, table, rows_in(objects, table))
    for table in found.of("clickhouse"):
        rows, id_sum = in_clickhouse.counted(runtime.clickhouse, table)
        require_rows(table, rows, id_sum)


def _restore_redis(runtime: Runtime, objects: Objects, found: Manifest, tell: Tell) -> None:
    for table in found.of("redis"):
        tell(f"Redis: {table.name}, {table.rows:,} rows")
        rows = chain.from_iterable(rows_in(objects, table))
        in_redis.copy_in(runtime.redis, table, rows)


def rows_in(objects: Objects, table: BackupTable) -> Iterator[list[Any]]:
    """Yields the blocks of rows of a table of ClickHouse or Redis."""
    for file in table.files:
        yield from blocks(objects, table, file)


def require_rows(table: BackupTable, rows: int, id_sum: int | None = None) -> None:
    """Raises `Unavailable` unless a store has as many rows of a table as the backup.

    Sessions may be more: those of events that came while the backup was taken are made of them.
    """
    counted = min(rows, table.rows) if table.name == FED else rows
    if counted != table.rows or (table.id_sum is not None and id_sum not in (None, table.id_sum)):
        raise Unavailable(
            f"{table.name} has {rows:,} rows after the restore and {table.rows:,} in the backup:"
            " make sure that nothing else uses the stores, and restore again"
        )
