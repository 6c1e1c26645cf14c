"""New ids for the rows of an organization that is imported.

An import makes a new organization, so all of its rows get new ids: the same export can be imported
beside its original. Ids of events stay, because findings and incidents name them as evidence.

Whoever makes an archive also writes its checksums. So each row is checked while it is renamed: it
is of the organization of the export, and what makes it one of the new organization comes from here
and never from the row.
"""

import hashlib
import re
import secrets
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from shared.access.permissions.catalogue import INSTANCE_ADMIN
from shared.foundation.core.email_address import normal_address
from shared.foundation.core.errors import Conflict, Invalid
from shared.foundation.core.ids import parse_uuid
from shared.upkeep.backup import in_clickhouse, redis_rows
from shared.upkeep.backup.files import Row
from shared.upkeep.backup.manifest import BackupColumn, BackupTable, Manifest, refused

_NULL = b"\\N"
_UUID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# A hash that an archive has influence on could be that of a known key or token.
_HASHES = frozenset({("api_keys", "key_hash"), ("evaluator_pools", "token_hash")})
_SALT = re.compile(rb"[0-9a-f-]{32,36}")


@dataclass
class Renaming:
    """New ids and the new slug of an imported organization.

    `people`: the account of each address here, by the id that it had there. Methods raise
    `Conflict` for a row that no export of the organization has.
    """

    old_id: str
    new_id: uuid.UUID
    new_slug: str
    people: dict[bytes, bytes] = field(default_factory=dict)
    _named: dict[bytes, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, manifest: Manifest, slug: str | None) -> "Renaming":
        """Chooses the ids: the same for one export and slug, so an import can be repeated."""
        organization = manifest.organization
        if organization is None:
            raise refused("it names no organization")
        export_id, old_id = parse_uuid(manifest.id), parse_uuid(organization.id)
        if export_id is None or old_id is None:
            raise refused("its ids are not UUIDs")
        new_slug = slug or organization.slug
        return cls(str(old_id), uuid.uuid5(export_id, new_slug), new_slug)

    def renamed(self, old: bytes) -> bytes:
        """Returns the new id of a row."""
        if old == self.old_id.encode():
            return str(self.new_id).encode()
        return self.people.get(old) or str(self.fresh(old)).encode()

    def fresh(self, old: bytes) -> uuid.UUID:
        """Returns an id that is always the same for a row of this export and slug."""
        if not _UUID.fullmatch(old):
            raise refused("an id is not a UUID")
        return uuid.uuid5(self.new_id, old.decode())

    def learn(self, table: BackupTable, line: bytes) -> None:
        """Remembers the id of a row that texts may name, such as the alert of an incident."""
        old = values_by_name(table, line).get("id", b"")
        if _UUID.fullmatch(old):
            self._named[old] = self.renamed(old)

    def account(self, table: BackupTable, line: bytes) -> tuple[bytes, str]:
        """Returns the id and the address of a line of `users`."""
        values = values_by_name(table, line)
        self.fresh(values["id"])
        address = values["email"].decode(errors="replace")
        try:
            if normal_address(address) == address:
                return values["id"], address
        except Invalid:
            pass
        raise refused("an account has no address")

    def line(self, table: BackupTable) -> Callable[[bytes], bytes]:
        """Returns the function that renames a line of a table, without identity columns."""
        changes = [self._change(table.name, column) for column in table.columns]
        kept = [at for at, column in enumerate(table.columns) if not _is_identity(column)]

        def changed(line: bytes) -> bytes:
            values = _values(table, line)
            return b"\t".join(changes[at](values[at]) for at in kept) + b"\n"

        return changed

    def _change(self, table: str, column: BackupColumn) -> Callable[[bytes], bytes]:
        if (table, column.name) == ("organizations", "id") or column.name == "org_id":
            return self._organization
        if (table, column.name) == ("organizations", "slug"):
            return lambda _: self.new_slug.encode()
        if (table, column.name) == ("memberships", "is_pending"):
            # An archive may name anybody, as an invitation may.
            return lambda _: b"t"
        if (table, column.name) == ("organizations", "deletion_salt"):
            return self._salt
        if (table, column.name) in _HASHES:
            return lambda _: rb"\\x" + hashlib.sha256(secrets.token_bytes(32)).hexdigest().encode()
        if (table, column.name) == ("api_keys", "revoked_at"):
            return lambda value: b"now" if value == _NULL else value
        if column.type == "text[]" and column.name.startswith("permission"):
            return _grant
        if column.type == "uuid":
            return lambda value: value if value == _NULL else self.renamed(value)
        if column.type in {"text", "json", "jsonb", "text[]"}:
            return lambda value: _UUID.sub(self._in_text, value)
        return lambda value: value

    def _organization(self, value: bytes) -> bytes:
        if value != self.old_id.encode():
            raise _of_another()
        return str(self.new_id).encode()

    def _salt(self, value: bytes) -> bytes:
        """Returns the salt of hashes, which goes into statements; the old id if there is none."""
        if value == _NULL:
            return self.old_id.encode()
        if not _SALT.fullmatch(value):
            raise refused("the salt of deletions is not hexadecimal")
        return value

    def _in_text(self, found: re.Match[bytes]) -> bytes:
        old = found[0]
        if old == self.old_id.encode():
            return str(self.new_id).encode()
        return self._named.get(old, old)

    def stored(
        self, table: BackupTable, jobs: Callable[[list[uuid.UUID]], set[str]]
    ) -> Callable[[list[list[Any]]], list[Row]]:
        """Returns the function that renames a block of rows of ClickHouse.

        `jobs` tells which ids are jobs here: results of jobs carry their ids, and results that came
        as telemetry keep theirs.
        """
        org_at = in_clickhouse.position(table, "org_id")
        id_at = None
        if table.name in in_clickhouse.RESULTS:
            id_at = in_clickhouse.position(table, "evaluation_id")
        old_id = self.old_id.encode()

        def changed(block: list[list[Any]]) -> list[Row]:
            for row in block:
                if row[org_at] != old_id:
                    raise _of_another()
                row[org_at] = str(self.new_id).encode()
            if id_at is not None:
                new = {row[id_at]: self.renamed(row[id_at]) for row in block if _is_id(row[id_at])}
                known = jobs([uuid.UUID(one.decode()) for one in new.values()])
                for row in block:
                    if new.get(row[id_at], b"").decode() in known:
                        row[id_at] = new[row[id_at]]
            return [*block]

        return changed

    def waiting(self, table: BackupTable, row: Row) -> Row:
        """Renames a row of Redis."""
        if redis_rows.owner_of(table.name, row) != self.old_id:
            raise _of_another()
        return redis_rows.moved(table.name, row, str(self.new_id), self.new_slug)

    def columns(self, table: BackupTable) -> list[BackupColumn]:
        """Returns the columns of renamed lines."""
        return [column for column in table.columns if not _is_identity(column)]


def values_by_name(table: BackupTable, line: bytes) -> Mapping[str, bytes]:
    """Returns the values of a line as COPY writes them."""
    return dict(zip((column.name for column in table.columns), _values(table, line), strict=True))


def _values(table: BackupTable, line: bytes) -> list[bytes]:
    values = line.rstrip(b"\n").split(b"\t")
    if len(values) != len(table.columns):
        raise refused(f"a line of {table.name} has not one value for each column")
    return values


def _grant(value: bytes) -> bytes:
    # No token has a backslash, which could hide one.
    if b"\\" in value or INSTANCE_ADMIN.encode() in value.replace(b'"', b""):
        raise refused(f"it grants {INSTANCE_ADMIN}, which only this deployment can grant")
    return value


def _of_another() -> Conflict:
    return refused("a row is not of the organization of the export")


def _is_identity(column: BackupColumn) -> bool:
    return column.type.endswith(" identity")


def _is_id(value: Any) -> bool:
    return isinstance(value, bytes) and _UUID.fullmatch(value) is not None
