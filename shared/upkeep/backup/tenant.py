"""One organization: its rows for an export, and new ids for their import.

An import makes a new organization, so all of its rows get new ids: the same export can be imported
beside its original. Ids of events stay, because findings and incidents name them as evidence.
"""

import hashlib
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from sqlalchemy import Connection, inspect

from shared.evaluations.records import Evaluation
from shared.otlp.placing.waiting import renamed
from shared.upkeep.backup import in_clickhouse, in_redis
from shared.upkeep.backup.manifest import Column, Manifest, Table

_NULL = b"\\N"
_UUID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Rows of these are many, and no text names them.
NOT_NAMED = frozenset(
    {"evaluation_jobs", "creations", "receipts", "watched_sessions", "mails", "audit_log"}
)

# A key works in one place only. Its row stays, because receipts and histories name it.
_CHANGED = {
    "api_keys": {
        "key_hash": "sha256(convert_to(gen_random_uuid()::text || gen_random_uuid(), 'UTF8'))",
        "revoked_at": "coalesce(revoked_at, now())",
    }
}

_encode_evaluations = msgspec.msgpack.Encoder().encode
_decode_evaluations = msgspec.msgpack.Decoder(tuple[Evaluation, ...]).decode


def rows_of(connection: Connection, table: Table, org_id: uuid.UUID) -> str | None:
    """Returns a SELECT of the rows of a table that an export has; None if it has none."""
    names = {column.name for column in table.columns}
    if table.name == "organizations":
        where = f"id = '{org_id}'"
    elif table.name == "users":
        people = " UNION ".join(
            f"SELECT {column} FROM {name} WHERE org_id = '{org_id}'"
            for name, column in _about_people(connection)
        )
        where = f"id IN ({people})"
    elif "org_id" in names:
        where = f"org_id = '{org_id}'"
    else:
        return None
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


@dataclass
class Renaming:
    """New ids and the new slug of an imported organization.

    `people`: the account of each address here, by the id that it had there.
    """

    old_id: str
    old_slug: str
    new_id: uuid.UUID
    new_slug: str
    people: dict[bytes, bytes] = field(default_factory=dict)
    _named: dict[bytes, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, manifest: Manifest, slug: str | None) -> "Renaming":
        """Chooses the ids: the same for one export and slug, so an import can be repeated."""
        organization = manifest.organization
        if organization is None:
            raise ValueError("not an export of an organization")
        new_slug = slug or organization.slug
        new_id = uuid.uuid5(uuid.UUID(manifest.id), new_slug)
        return cls(organization.id, organization.slug, new_id, new_slug)

    def renamed(self, old: bytes) -> bytes:
        """Returns the new id of a row."""
        if old == self.old_id.encode():
            return str(self.new_id).encode()
        return self.people.get(old) or str(self.fresh(old)).encode()

    def fresh(self, old: bytes) -> uuid.UUID:
        """Returns an id that is always the same for a row of this export and slug."""
        return uuid.uuid5(self.new_id, old.decode())

    def learn(self, table: Table, line: bytes) -> None:
        """Remembers the id of a row that texts may name, such as the alert of an incident."""
        names = [column.name for column in table.columns]
        if "id" in names:
            old = _values(line)[names.index("id")]
            if _UUID.fullmatch(old):
                self._named[old] = self.renamed(old)

    def line(self, table: Table) -> Callable[[bytes], bytes]:
        """Returns the function that renames a line of a table, without identity columns."""
        changes = [self._change(table.name, column) for column in table.columns]
        kept = [at for at, column in enumerate(table.columns) if not _is_identity(column)]

        def changed(line: bytes) -> bytes:
            values = _values(line)
            return b"\t".join(changes[at](values[at]) for at in kept) + b"\n"

        return changed

    def _change(self, table: str, column: Column) -> Callable[[bytes], bytes]:
        if (table, column.name) == ("organizations", "slug"):
            return lambda _: self.new_slug.encode()
        if (table, column.name) == ("api_keys", "key_hash"):
            # It is of no key already, and has to differ between two imports of one export.
            return lambda value: (
                rb"\\x" + hashlib.sha256(self.new_id.bytes + value).hexdigest().encode()
            )
        if column.type == "uuid":
            return lambda value: value if value == _NULL else self.renamed(value)
        if column.type in {"text", "json", "jsonb", "text[]"}:
            return lambda value: _UUID.sub(self._in_text, value)
        return lambda value: value

    def _in_text(self, found: re.Match[bytes]) -> bytes:
        old = found[0]
        if old == self.old_id.encode():
            return str(self.new_id).encode()
        return self._named.get(old, old)

    def stored(self, table: Table, jobs: Callable[[list[uuid.UUID]], set[str]]) -> Any:
        """Returns the function that renames a block of rows of ClickHouse.

        `jobs` tells which ids are jobs here: results of jobs carry their ids, and results that came
        as telemetry keep theirs.
        """
        org_at = in_clickhouse.position(table, "org_id")
        id_at = (
            in_clickhouse.position(table, "evaluation_id") if table.name == "evaluations" else None
        )

        def changed(block: list[list[Any]]) -> list[list[Any]]:
            for row in block:
                row[org_at] = str(self.new_id).encode()
            if id_at is not None:
                new = {row[id_at]: self.renamed(row[id_at]) for row in block if _is_id(row[id_at])}
                known = jobs([uuid.UUID(one.decode()) for one in new.values()])
                for row in block:
                    if new.get(row[id_at], b"").decode() in known:
                        row[id_at] = new[row[id_at]]
            return block

        return changed

    def waiting(self, table: Table, row: Sequence[Any]) -> list[Any]:
        """Renames a row of Redis."""
        if table.name == in_redis.WAITING:
            _, shard, trace_id, packed = row
            return [str(self.new_id), shard, trace_id, renamed(packed, self.new_slug)]
        key = in_redis.text_of(row[0]).replace(self.old_id, str(self.new_id))
        if table.name == in_redis.DECISIONS:
            return [key, *row[1:]]
        fields = dict(zip(row[2][::2], row[2][1::2], strict=True))
        fields[b"slug"] = self.new_slug.encode()
        if b"org_id" in fields:
            fields[b"org_id"] = str(self.new_id).encode()
        if b"evaluations" in fields:
            fields[b"evaluations"] = self._evaluations(fields[b"evaluations"])
        return [key, row[1], [part for pair in fields.items() for part in pair], *row[3:]]

    def _evaluations(self, packed: bytes) -> bytes:
        rows = _decode_evaluations(packed)
        new_id = str(self.new_id)
        return _encode_evaluations([msgspec.structs.replace(row, org_id=new_id) for row in rows])

    def columns(self, table: Table) -> list[Column]:
        """Returns the columns of renamed lines."""
        return [column for column in table.columns if not _is_identity(column)]


def values_by_name(table: Table, line: bytes) -> Mapping[str, bytes]:
    """Returns the values of a line as COPY writes them."""
    return dict(zip((column.name for column in table.columns), _values(line), strict=True))


def _values(line: bytes) -> list[bytes]:
    return line.rstrip(b"\n").split(b"\t")


def _is_identity(column: Column) -> bool:
    return column.type.endswith(" identity")


def _is_id(value: Any) -> bool:
    return isinstance(value, bytes) and _UUID.fullmatch(value) is not None
