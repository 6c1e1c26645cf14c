"""Imports the export of an organization, as a new organization of this deployment.

All of an export is read twice: first to find out whether its author wrote anything that is not the
organization's, then to store it.
"""

from collections.abc import Iterator
from itertools import chain

from sqlalchemy import Connection, text

from shared.access.audit_log import record
from shared.access.organizations.rules import require_slug
from shared.foundation.core.errors import Conflict
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.objects import Objects
from shared.upkeep.backup import in_clickhouse, in_postgres, in_redis, manifest
from shared.upkeep.backup.accepting import require_known
from shared.upkeep.backup.files import Tell, lines
from shared.upkeep.backup.manifest import BackupTable, Manifest
from shared.upkeep.backup.renaming import Renaming
from shared.upkeep.backup.restore import require_rows, require_same_schema, rows_in
from shared.upkeep.backup.settle import settle, watch_again
from shared.upkeep.backup.tenant import NOT_NAMED

_ACCOUNT = text("""
WITH made AS (
    INSERT INTO users (id, email) VALUES (CAST(:id AS uuid), :email)
    ON CONFLICT (email) DO NOTHING RETURNING id
)
SELECT id FROM made UNION ALL SELECT id FROM users WHERE email = :email LIMIT 1
""")
_DONE = "organization.import"
_IMPORTED = text("""
SELECT 1 FROM audit_log WHERE org_id = :id AND action = :done AND target_id = :target LIMIT 1
""")
_IN_THE_WAY = text("SELECT id FROM organizations WHERE slug = :slug OR id = :id")


def import_organization(
    runtime: Runtime, objects: Objects, tell: Tell, slug: str | None = None
) -> Renaming:
    """Imports an export under its slug, or another one; returns the ids.

    PostgreSQL has the organization only when everything else is stored, so an import that was
    killed is run again with the same slug. The line in its audit log ends the import: until then
    the next run ends it. Raises `Conflict` for a slug that is taken, another schema, a torn or
    changed export, and one that holds more than an organization.
    """
    found = manifest.read(objects)
    if found.kind != "organization":
        raise Conflict("this is a backup of everything: use `backup restore`", code="wrong_kind")
    require_same_schema(runtime, found)
    renaming = Renaming.of(found, slug)
    require_slug(renaming.new_slug)
    with runtime.postgres.engine.begin() as connection:
        in_postgres.unbounded(connection)
        if _is_stored(connection, found, renaming):
            tell("an import was interrupted at its end: ending it")
        else:
            require_known(runtime, connection, found)
            _require_own(objects, found, Renaming.of(found, slug), tell)
            _import_postgres(connection, objects, found, renaming, tell)
            _import_clickhouse(runtime, connection, objects, found, renaming, tell)
            settle(connection, found, renaming.new_id)
            _import_redis(runtime, objects, found, renaming, tell)
    in_redis.activate(runtime.redis, [str(renaming.new_id)])
    with runtime.postgres.transaction() as session:
        watch_again(runtime.clickhouse, session, found, renaming.new_id)
        after = {"place": objects.url, "point_at": found.point_at, "slug": renaming.new_slug}
        record(session, renaming.new_id, _DONE, target=found.id, name=objects.url, after=after)
    return renaming


def _is_stored(connection: Connection, found: Manifest, renaming: Renaming) -> bool:
    """Returns whether an import of this export under this slug was killed near its end.

    Raises `Conflict` if the slug is taken, or if such an import has ended.
    """
    names = {"id": renaming.new_id, "slug": renaming.new_slug, "done": _DONE, "target": found.id}
    if connection.scalar(_IMPORTED, names):
        raise Conflict(
            f"this export was imported as {renaming.new_slug!r} before: pass another --slug",
            code="slug_taken",
        )
    found_ids = set(connection.scalars(_IN_THE_WAY, names))
    if found_ids - {renaming.new_id}:
        raise Conflict(
            f"the slug {renaming.new_slug!r} is taken: pass another one as --slug",
            code="slug_taken",
        )
    return bool(found_ids)


def _require_own(objects: Objects, found: Manifest, renaming: Renaming, tell: Tell) -> None:
    """Reads everything as the import does, and stores nothing; raises what the import raises."""
    tell("checking the export")
    for table in found.tables:
        if table.store == "postgres":
            change = renaming.line(table)
            for line in _lines(objects, table):
                if table.name == "users":
                    renaming.account(table, line)
                else:
                    change(line)
        elif table.store == "clickhouse":
            stored = renaming.stored(table, lambda _: set())
            for block in rows_in(objects, table):
                stored(block)
        else:
            for row in chain.from_iterable(rows_in(objects, table)):
                renaming.waiting(table, row)


def _import_postgres(
    connection: Connection, objects: Objects, found: Manifest, renaming: Renaming, tell: Tell
) -> None:
    for table in found.of("postgres"):
        if table.name in NOT_NAMED:
            continue
        for line in _lines(objects, table):
            if table.name == "users":
                _add_account(connection, renaming, *renaming.account(table, line))
            else:
                renaming.learn(table, line)
    for table in found.of("postgres"):
        if table.name == "users":
            continue
        tell(f"PostgreSQL: {table.name}, {table.rows:,} rows")
        change = renaming.line(table)
        rows = map(change, _lines(objects, table))
        added = in_postgres.copy_in(connection, table.name, renaming.columns(table), rows)
        require_rows(table, added)


def _lines(objects: Objects, table: BackupTable) -> Iterator[bytes]:
    for file in table.files:
        yield from lines(objects, file)


def _add_account(connection: Connection, renaming: Renaming, old_id: bytes, email: str) -> None:
    """Finds or makes the account of an address: an account belongs to no organization."""
    asked = {"id": str(renaming.fresh(old_id)), "email": email}
    renaming.people[old_id] = str(connection.scalar(_ACCOUNT, asked)).encode()


def _import_clickhouse(
    runtime: Runtime,
    connection: Connection,
    objects: Objects,
    found: Manifest,
    renaming: Renaming,
    tell: Tell,
) -> None:
    for table in found.of("clickhouse"):
        tell(f"ClickHouse: {table.name}, {table.rows:,} rows")
        change = renaming.stored(table, lambda ids: in_postgres.known_jobs(connection, ids))
        in_clickhouse.copy_in(runtime.clickhouse, table, map(change, rows_in(objects, table)))
    for table in found.of("clickhouse"):
        counted = in_clickhouse.counted(runtime.clickhouse, table, str(renaming.new_id))
        require_rows(table, *counted)


def _import_redis(
    runtime: Runtime, objects: Objects, found: Manifest, renaming: Renaming, tell: Tell
) -> None:
    in_redis.empty(runtime.redis, str(renaming.new_id))
    for table in found.of("redis"):
        tell(f"Redis: {table.name}, {table.rows:,} rows")
        rows = chain.from_iterable(rows_in(objects, table))
        renamed = (renaming.waiting(table, row) for row in rows)
        in_redis.copy_in(runtime.redis, table, renamed)
