"""One organization: the rows that its export has."""

import uuid
from collections.abc import Iterator

from sqlalchemy import Connection, inspect

from shared.upkeep.backup.manifest import BackupTable

# Rows of these are many, and no text names them.
NOT_NAMED = frozenset(
    {"evaluation_jobs", "creations", "receipts", "watched_sessions", "mails", "audit_log"}
    | {"evaluator_runs", "session_triggers"}
)

_ANY_HASH = "sha256(convert_to(gen_random_uuid()::text || gen_random_uuid(), 'UTF8'))"

# A key works in one place only. Its row stays, because receipts and histories name it.
_CHANGED = {
    "api_keys": {"key_hash": _ANY_HASH, "revoked_at": "coalesce(revoked_at, now())"},
    "evaluator_pools": {"token_hash": _ANY_HASH},
}

# An evaluator without its secrets is set up by its new owner.
_LEFT_OUT = frozenset({"evaluator_secrets"})


def is_exported(table: BackupTable) -> bool:
    """Returns whether an export has rows of a table of PostgreSQL."""
    if table.name in {"organizations", "users"}:
        return True
    has_organization = any(column.name == "org_id" for column in table.columns)
    return has_organization and table.name not in _LEFT_OUT


def rows_of(connection: Connection, table: BackupTable, org_id: uuid.UUID) -> str | None:
    """Returns a SELECT of the rows of a table that an export has; None if it has none."""
    if not is_exported(table):
        return None
    if table.name == "organizations":
        where = f"id = '{org_id}'"
    elif table.name == "users":
        people = " UNION ".join(
            f"SELECT {column} FROM {name} WHERE org_id = '{org_id}'"
            for name, column in _about_people(connection)
        )
        where = f"id IN ({people})"
    else:
        where = f"org_id = '{org_id}'"
    changed = _CHANGED.get(table.name, {})
    selected = ", ".join(
        f"{changed[column.name]} AS {column.name}" if column.name in changed else f'"{column.name}"'
        for column in table.columns
    )
    order = [column.name for column in table.columns if column.type.endswith(" identity")]
    ordered = f" ORDER BY {order[0]}" if order else ""
    return f"SELECT {selected} FROM {table.name} WHERE {where}{ordered}"


def _about_people(connection: Connection) -> Iterator[tuple[str, str]]:
    """Yields the tables of organizations with a column that refers to accounts."""
    found = inspect(connection)
    for name in found.get_table_names():
        if any(column["name"] == "org_id" for column in found.get_columns(name)):
            for key in found.get_foreign_keys(name):
                if key["referred_table"] == "users":
                    yield name, key["constrained_columns"][0]
