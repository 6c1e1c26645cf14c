"""The manifest of a backup: written last, so a backup without one is unfinished.

docs/run/backup.md describes the format.
"""

import hashlib
from collections.abc import Iterator
from typing import Literal

import msgspec

from shared.foundation.core.errors import Conflict, NotFound
from shared.foundation.core.version import VERSION
from shared.foundation.objects import Objects

NAME = "manifest.json"
# The number of the format of the files, which changes when older ones cannot be read any more.
FORMAT = 1

# A terabyte of rows has a manifest of a few megabytes.
_MAX_BYTES = 64 * 1024 * 1024

Store = Literal["postgres", "clickhouse", "redis"]


class BackupFile(msgspec.Struct, frozen=True):
    """A file of a table: its size in bytes as stored, its rows, and the SHA-256 of its bytes."""

    name: str
    size: int
    rows: int
    sha256: str


class BackupColumn(msgspec.Struct, frozen=True):
    """A column of a table, in the order of the values of a row."""

    name: str
    type: str


class BackupTable(msgspec.Struct):
    """The rows of a table. `id_sum` is the sum of its column `id` modulo 2^64, if it is a number.

    Redis has tables too: kinds of keys, see `in_redis`.
    """

    store: Store
    name: str
    columns: list[BackupColumn]
    rows: int = 0
    id_sum: int | None = None
    files: list[BackupFile] = []

    def file_name(self, number: int) -> str:
        """Returns the name of a file of the table; the first has the number 0."""
        return f"{self.store}/{self.name}/{number:05d}.zst"


class Secret(msgspec.Struct, frozen=True):
    """A column that holds secrets, and the form in which it holds them."""

    column: str
    form: str


class ExportedOrganization(msgspec.Struct, frozen=True):
    """The organization of an export."""

    id: str
    slug: str
    name: str


class Manifest(msgspec.Struct):
    """Everything about a backup but its rows.

    `kind`: a backup of everything, or the export of `organization`. `point_at`: nothing that was
    accepted before it is missing. `snapshot_at`: the moment of PostgreSQL's snapshot. Times are in
    ISO 8601. `digest`: the SHA-256 of this document with an empty `digest`.
    """

    id: str
    kind: Literal["deployment", "organization"]
    postgres_revision: str
    clickhouse_version: int
    point_at: str
    snapshot_at: str
    finished_at: str = ""
    format: int = FORMAT
    release: str = VERSION
    organization: ExportedOrganization | None = None
    secrets: list[Secret] = []
    left_out: list[str] = []
    tables: list[BackupTable] = []
    digest: str = ""

    def of(self, store: Store) -> list[BackupTable]:
        """Returns the tables of a store, in the order in which they were written."""
        return [table for table in self.tables if table.store == store]

    def files(self) -> Iterator[tuple[BackupTable, BackupFile]]:
        """Yields every file with its table."""
        for table in self.tables:
            for file in table.files:
                yield table, file


def write(objects: Objects, manifest: Manifest) -> None:
    """Writes the manifest, which finishes the backup."""
    manifest.digest = _digest(manifest)
    objects.put(NAME, [msgspec.json.format(msgspec.json.encode(manifest)) + b"\n"])


def read(objects: Objects) -> Manifest:
    """Reads the manifest of a backup.

    Raises `NotFound` if there is none, because the backup was never finished or is elsewhere, and
    `Conflict` if it was changed or a newer release wrote it.
    """
    try:
        if (objects.size(NAME) or 0) > _MAX_BYTES:
            raise _changed(objects)
        content = objects.read(NAME)
    except NotFound:
        raise NotFound(
            f"{objects.url} has no {NAME}: it is no backup, or one that was never finished",
            code="no_backup",
        ) from None
    try:
        found = msgspec.json.decode(content, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise _changed(objects) from error
    if found.format != FORMAT:
        raise Conflict(
            f"the backup has format {found.format}, and this release reads {FORMAT}:"
            f" use release {found.release}",
            code="other_release",
        )
    if found.digest != _digest(found):
        raise _changed(objects)
    return found


def refused(reason: str) -> Conflict:
    """Returns the error for an archive that no release of Watchpost writes."""
    return Conflict(
        f"the archive is refused: {reason}. Import only what comes from somebody you trust"
        " (docs/run/backup.md)",
        code="backup_refused",
    )


def _digest(manifest: Manifest) -> str:
    plain = msgspec.structs.replace(manifest, digest="")
    return hashlib.sha256(msgspec.json.encode(plain)).hexdigest()


def _changed(objects: Objects) -> Conflict:
    return Conflict(
        f"{objects.url}/{NAME} is not as it was written: use another backup", code="backup_changed"
    )
