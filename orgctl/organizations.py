"""`service-orgctl org`: the organizations of a deployment."""

from collections.abc import Callable

import click
from sqlalchemy.orm import Session

from orgctl.backup import summary, tell
from orgctl.context import Row, connected, print_json, print_result, print_rows
from orgctl.options import json_option
from shared.access import organizations
from shared.access.organizations import Organization, lifecycle
from shared.foundation.cache import at_once
from shared.foundation.core.clock import format_optional_ts, format_ts
from shared.foundation.objects import open_objects
from shared.upkeep.backup.create import create as create_backup
from shared.upkeep.backup.moving import import_organization
from shared.upkeep.purge.service import PurgeCounts
from shared.upkeep.purge.service import purge as purge_organization


@click.group()
def org() -> None:
    """Create, list, rename, delete, restore, purge, export and import organizations."""


@org.command()
@click.argument("slug")
@click.option("--name", help="The display name.  [default: the slug]")
@json_option
def create(slug: str, name: str | None, *, as_json: bool) -> None:
    """Create the organization SLUG: a-z, 0-9 and single hyphens, at most 40 characters.

    \b
    service-orgctl org create acme --name 'Acme Ltd'
    """
    with connected() as runtime, runtime.postgres.transaction() as session:
        row = _row(organizations.create(session, slug, name))
    _print(row, "created", as_json=as_json)


@org.command("list")
@click.option(
    "--deleted", is_flag=True, help="Include organizations that are deleted but not purged."
)
@json_option
def list_organizations(*, deleted: bool, as_json: bool) -> None:
    """List the organizations by slug."""
    read = organizations.list_ if deleted else organizations.all_live
    with connected() as runtime, runtime.postgres.transaction() as session:
        rows = [_row(organization) for organization in read(session)]
    print_rows(rows, as_json=as_json)


@org.command()
@click.argument("slug")
@click.option("--name", help="The new display name.")
@click.option("--new-slug", metavar="SLUG", help="The new slug.")
@json_option
def rename(slug: str, name: str | None, new_slug: str | None, *, as_json: bool) -> None:
    """Give the organization SLUG another name, another slug, or both.

    A new slug takes effect at once: change it wherever X-Service-Org or EVALUATOR_ORGS names the
    organization. Keys and sessions keep working.

    \b
    service-orgctl org rename acme --name 'Acme GmbH' --new-slug acme-gmbh
    """
    if name is None and new_slug is None:
        raise click.UsageError("nothing to change: pass --name, --new-slug or both")
    row = _change(lambda session: lifecycle.rename(session, slug, name=name, new_slug=new_slug))
    print_result(row, f"{slug} is now {row['slug']}, {row['name']}", as_json=as_json)


@org.command()
@click.argument("slug")
@json_option
def delete(slug: str, *, as_json: bool) -> None:
    """Delete the organization SLUG. It can be restored until it is purged.

    Its keys stop working at once, and its members lose access. `purge` removes the data; until then
    the slug stays taken. The built-in organization `default` cannot be deleted.
    """
    _print(_change(lambda session: lifecycle.delete(session, slug)), "deleted", as_json=as_json)


@org.command()
@click.argument("slug")
@json_option
def restore(slug: str, *, as_json: bool) -> None:
    """Undo the deletion of the organization SLUG: keys and members have access as before.

    Data that an interrupted purge removed does not come back.
    """
    _print(_change(lambda session: lifecycle.restore(session, slug)), "restored", as_json=as_json)


@org.command()
@click.argument("slug")
@click.option(
    "--yes", "confirmed", metavar="SLUG", required=True, help="The slug again, to confirm."
)
@json_option
def purge(slug: str, confirmed: str, *, as_json: bool) -> None:
    """Remove all data of the deleted organization SLUG for good and print the number of rows.

    Removes its rows in PostgreSQL and ClickHouse, its queues in Redis, and the accounts without any
    other membership. Other organizations are not affected. A purge can take minutes. If it is
    interrupted, run it again; it then counts only what was left.

    \b
    service-orgctl org delete acme
    service-orgctl org purge acme --yes acme
    """

    def tell(doing: str) -> None:
        click.echo(f"purging {slug}: {doing}", err=True)

    with connected() as runtime:
        purged = purge_organization(runtime, slug, confirmed=confirmed, tell=tell)
    _print_purged(purged, as_json=as_json)


@org.command("export")
@click.argument("slug")
@click.argument("target")
@json_option
def export(slug: str, target: str, *, as_json: bool) -> None:
    """Write everything of the organization SLUG into TARGET: a new folder, or s3://BUCKET/PREFIX.

    Nothing has to stop. `backup verify TARGET` checks the export.

    \b
    service-orgctl org export acme /var/backups/acme
    """
    objects = open_objects(target)
    with connected() as runtime:
        with runtime.postgres.transaction() as session:
            organization = lifecycle.require(session, slug)
        made = create_backup(runtime, objects, tell, organization)
    print_result(summary(objects, made), f"exported {slug} to {objects.url}", as_json=as_json)


@org.command("import")
@click.argument("source")
@click.option("--slug", help="The slug here.  [default: the one that it had]")
@json_option
def import_(source: str, slug: str | None, *, as_json: bool) -> None:
    """Import the export SOURCE as a new organization of this deployment.

    It gets new ids. Its keys are revoked: create others. If it is interrupted, run it again with
    the same slug.

    \b
    service-orgctl org import /var/backups/acme --slug acme-copy
    """
    with connected() as runtime:
        made = import_organization(runtime, open_objects(source), tell, slug)
    result: Row = {"id": str(made.new_id), "slug": made.new_slug}
    print_result(result, f"imported {made.new_slug} ({made.new_id})", as_json=as_json)


def _change(act: Callable[[Session], Organization]) -> Row:
    with connected() as runtime, at_once(runtime.postgres, runtime.redis) as session:
        return _row(act(session))


def _print(row: Row, done: str, *, as_json: bool) -> None:
    print_result(row, f"{done} {row['slug']} ({row['id']})", as_json=as_json)


def _print_purged(purged: PurgeCounts, *, as_json: bool) -> None:
    if as_json:
        print_json({"id": str(purged.org_id), "slug": purged.slug, **purged.stores})
        return
    click.echo(f"purged {purged.slug} ({purged.org_id})")
    rows: list[Row] = [
        {"store": store, "what": what, "removed": count}
        for store, counts in purged.stores.items()
        for what, count in counts.items()
        if count
    ]
    print_rows(rows, as_json=False)


def _row(organization: Organization) -> Row:
    return {
        "id": str(organization.id),
        "slug": organization.slug,
        "name": organization.name,
        "created_at": format_ts(organization.created_at),
        "deleted_at": format_optional_ts(organization.deleted_at),
    }
