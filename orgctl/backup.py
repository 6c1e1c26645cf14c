"""`service-orgctl backup`: backups of the whole deployment."""

import click

from orgctl.context import Row, connected, print_result, print_rows
from orgctl.options import json_option
from shared.foundation.objects import Objects, open_objects
from shared.upkeep.backup.create import create as create_backup
from shared.upkeep.backup.create import new_name
from shared.upkeep.backup.listing import backups_in
from shared.upkeep.backup.listing import verify as verify_backup
from shared.upkeep.backup.manifest import Manifest
from shared.upkeep.backup.restore import restore as restore_backup


@click.group()
def backup() -> None:
    """Create, list, verify and restore backups of everything.

    A target is a folder, or s3://BUCKET/PREFIX with the variables AWS_ACCESS_KEY_ID,
    AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL.
    """


@backup.command()
@click.argument("target")
@json_option
def create(target: str, *, as_json: bool) -> None:
    """Write a backup into a new folder of TARGET and print its place. Nothing has to stop.

    A backup that was interrupted has no manifest.json: remove its folder, and create another.

    \b
    service-orgctl backup create /var/backups/watchpost
    """
    objects = open_objects(f"{target.rstrip('/')}/{new_name()}")
    with connected() as runtime:
        made = create_backup(runtime, objects, tell)
    print_result(summary(objects, made), f"created {objects.url}", as_json=as_json)


@backup.command("list")
@click.argument("target")
@json_option
def list_backups(target: str, *, as_json: bool) -> None:
    """List the backups and exports below TARGET, oldest first.

    An unfinished one is being written, or was interrupted.
    """
    print_rows(backups_in(open_objects(target)), as_json=as_json)


@backup.command()
@click.argument("place", metavar="BACKUP")
@json_option
def verify(place: str, *, as_json: bool) -> None:
    """Read all of BACKUP and compare it with its manifest. Needs no database.

    BACKUP is what `create` printed, or the export of an organization.
    """
    objects = open_objects(place)
    found = verify_backup(objects, tell)
    print_result(summary(objects, found), f"{objects.url} is as it was written", as_json=as_json)


@backup.command()
@click.argument("place", metavar="BACKUP")
@json_option
def restore(place: str, *, as_json: bool) -> None:
    """Restore BACKUP into this deployment, which has to be new and stopped.

    Run `bin/release` before, and start the processes afterwards. If it is interrupted, run it
    again: it removes what it wrote and begins again.
    """
    objects = open_objects(place)
    with connected() as runtime:
        found = restore_backup(runtime, objects, tell)
    print_result(summary(objects, found), f"restored {objects.url}", as_json=as_json)


def tell(progress: str) -> None:
    """Prints progress for people, apart from the result."""
    click.echo(progress, err=True)


def summary(objects: Objects, found: Manifest) -> Row:
    """Returns what a command says about a backup."""
    return {
        "place": objects.url,
        "kind": found.kind,
        "organization": found.organization.slug if found.organization else None,
        "release": found.release,
        "point_at": found.point_at,
        "files": sum(1 for _ in found.files()),
        "bytes": sum(file.size for _, file in found.files()),
        "rows": sum(table.rows for table in found.tables),
    }
