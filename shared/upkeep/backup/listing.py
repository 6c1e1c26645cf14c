"""Lists backups, and reads one again to find out whether it is as it was written."""

from shared.foundation.core.errors import WatchpostError
from shared.foundation.objects import Objects, open_objects
from shared.upkeep.backup import manifest
from shared.upkeep.backup.files import Tell, check
from shared.upkeep.backup.manifest import Manifest

Listed = dict[str, str | int | None]


def backups_in(objects: Objects) -> list[Listed]:
    """Describes the backups and exports in the folders of a target, oldest first.

    `status`: `complete`, `unfinished` if it has no manifest, or `unreadable` if that was changed.
    """
    sizes: dict[str, int] = {}
    finished = set()
    for entry in objects.list():
        folder, found, rest = entry.name.partition("/")
        if found:
            sizes[folder] = sizes.get(folder, 0) + entry.size
            if rest == manifest.NAME:
                finished.add(folder)
    rows = [
        _row(objects, folder, size, is_finished=folder in finished)
        for folder, size in sizes.items()
    ]
    return sorted(rows, key=lambda row: (str(row["point_at"] or "9"), str(row["place"])))


def _row(objects: Objects, folder: str, size: int, *, is_finished: bool) -> Listed:
    place = f"{objects.url}/{folder}"
    row: Listed = {
        "place": place,
        "status": "unfinished",
        "kind": None,
        "organization": None,
        "release": None,
        "point_at": None,
        "bytes": size,
    }
    if not is_finished:
        return row
    try:
        found = manifest.read(open_objects(place))
    except WatchpostError:
        return {**row, "status": "unreadable"}
    return {
        **row,
        "status": "complete",
        "kind": found.kind,
        "organization": found.organization.slug if found.organization else None,
        "release": found.release,
        "point_at": found.point_at,
    }


def verify(objects: Objects, tell: Tell) -> Manifest:
    """Reads every file of a backup; returns its manifest.

    Raises `NotFound` for a place without a finished backup, and `Conflict` that names the first
    file which is not as it was written.
    """
    found = manifest.read(objects)
    for table in found.tables:
        tell(f"{table.store}: {table.name}, {table.rows:,} rows")
        check(objects, table)
    return found
