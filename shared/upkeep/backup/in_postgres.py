"""Rows of PostgreSQL, by COPY in one snapshot, which needs no program but the driver.

The database lists the tables, so that those of later releases are covered too.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg2
from sqlalchemy import Connection, Engine, inspect, text

from shared.foundation.deployment.schema import UNFINISHED_RESTORE
from shared.foundation.objects import Objects
from shared.upkeep.backup.files import BackupWriter, Tell
from shared.upkeep.backup.manifest import BackupColumn, BackupTable, Secret, refused

# Sign-in codes and sessions end with the deployment that made them: a copy of it must not let in
# whoever has a cookie of the original. The others describe the database itself, or its Redis.
LEFT_OUT = (
    "sign_in_codes",
    "sign_in_guesses",
    "sign_in_sessions",
    "alembic_version",
    "receipt_flushes",
)

# Secrets that the export of one organization has in their form, too.
EXPORTED_SECRETS = (
    Secret(
        "organization_settings.value",
        "in clear, as in the database: alerts.webhook_signing_secret, and the URLs of"
        " alerts.slack_default_webhook and alerts.webhook_default_url",
    ),
)
# Every column with a secret, and its form.
SECRETS = (
    Secret("api_keys.key_hash", "SHA-256 of each key; the keys themselves are stored nowhere"),
    Secret("evaluator_pools.token_hash", "SHA-256 of each token"),
    Secret("evaluator_secrets.sealed", "sealed with SECRETS_KEY, in clear without it"),
    *EXPORTED_SECRETS,
)

_COLUMNS = text("""
SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attidentity <> ''
FROM pg_attribute AS a
WHERE a.attrelid = to_regclass(:table) AND a.attnum > 0 AND NOT a.attisdropped
    AND a.attgenerated = ''
ORDER BY a.attnum
""")


@contextmanager
def snapshot(engine: Engine) -> Iterator[Connection]:
    """Opens a transaction that sees one moment of the database, however long it lasts."""
    with engine.connect().execution_options(isolation_level="REPEATABLE READ") as connection:
        connection.execute(text("SET TRANSACTION READ ONLY"))
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        yield connection


def unbounded(connection: Connection) -> None:
    """Lets the statements of a transaction take as long as they need."""
    connection.execute(text("SET LOCAL statement_timeout = 0"))


def tables(connection: Connection) -> list[BackupTable]:
    """Describes the tables, each after those that its rows refer to."""
    ordered = inspect(connection).get_sorted_table_and_fkc_names()
    names = [name for name, _ in ordered if name and name not in (*LEFT_OUT, UNFINISHED_RESTORE)]
    return [BackupTable("postgres", name, _columns(connection, name)) for name in names]


def _columns(connection: Connection, table: str) -> list[BackupColumn]:
    rows = connection.execute(_COLUMNS, {"table": table})
    return [
        BackupColumn(name, f"{type_} identity" if made else type_) for name, type_, made in rows
    ]


def copy_out(
    connection: Connection,
    objects: Objects,
    table: BackupTable,
    tell: Tell,
    rows: str | None = None,
) -> None:
    """Writes the rows of a table; `rows` is a SELECT of its columns if not all of it is meant."""
    writer = BackupWriter(objects, table, tell)
    source = f"({rows})" if rows else f"{table.name} ({names_of(table.columns)})"
    _cursor(connection).copy_expert(f"COPY {source} TO STDOUT", writer)
    writer.finish()


def copy_in(
    connection: Connection, name: str, columns: list[BackupColumn], lines: Iterator[bytes]
) -> int:
    """Adds rows to a table; returns their number. Raises `Conflict` for rows that it refuses."""
    cursor = _cursor(connection)
    try:
        cursor.copy_expert(f"COPY {name} ({names_of(columns)}) FROM STDIN", _LinesFile(lines))
    except (psycopg2.DataError, psycopg2.IntegrityError) as error:
        raise refused(f"PostgreSQL cannot take its rows of {name}: {error.pgerror}") from error
    return int(cursor.rowcount)


def empty(connection: Connection, names: list[str]) -> None:
    """Removes all rows of these tables, and of those that refer to them."""
    connection.execute(text(f"TRUNCATE {', '.join(names)} RESTART IDENTITY CASCADE"))


def advance_identities(connection: Connection, table: BackupTable) -> None:
    """Lets the numbers that the database gives to rows begin after those of a table."""
    for column in table.columns:
        if column.type.endswith(" identity"):
            connection.execute(
                text(
                    f"SELECT setval(pg_get_serial_sequence('{table.name}', '{column.name}'),"
                    f" (SELECT coalesce(max({column.name}), 0) + 1 FROM {table.name}), false)"
                )
            )


def names_of(columns: list[BackupColumn]) -> str:
    """Returns the names of columns for a statement."""
    return ", ".join(f'"{column.name}"' for column in columns)


def live_jobs(connection: Connection, ids: list[UUID]) -> set[str]:
    """Returns those of `ids` that are evaluation jobs without a result."""
    return _jobs(connection, ids, "status IN ('pending', 'polling')")


def known_jobs(connection: Connection, ids: list[UUID]) -> set[str]:
    """Returns those of `ids` that are evaluation jobs."""
    return _jobs(connection, ids, "true")


def _jobs(connection: Connection, ids: list[UUID], condition: str) -> set[str]:
    found = connection.execute(
        text(
            f"SELECT id FROM evaluation_jobs WHERE id = ANY(:ids) AND {condition}"
            f" UNION ALL SELECT id FROM evaluator_runs WHERE id = ANY(:ids) AND {condition}"
        ),
        {"ids": ids},
    )
    return {str(job_id) for (job_id,) in found}


def _cursor(connection: Connection) -> Any:
    return connection.connection.cursor()


class _LinesFile:
    """Lines as the file that the driver reads."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines
        self._left = b""

    def read(self, size: int) -> bytes:
        """Returns up to `size` bytes, nothing at the end."""
        pieces, length = [self._left], len(self._left)
        while length < size:
            line = next(self._lines, None)
            if line is None:
                break
            pieces.append(line)
            length += len(line)
        joined = b"".join(pieces)
        self._left = joined[size:]
        return joined[:size]
