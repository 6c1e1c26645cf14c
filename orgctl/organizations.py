"""`service-orgctl org`: the organizations of a deployment."""

from collections.abc import Callable

import click
from sqlalchemy.orm import Session

from orgctl.context import Row, connected, json_option, print_json, print_rows
from shared import organizations
from shared.cache import at_once
from shared.core.clock import format_optional_ts, format_ts
from shared.organizations import Organization, lifecycle
from shared.upkeep.purge import Purged
from shared.upkeep.purge import purge as purge_organization


@click.group()
def org() -> None:
    """Create, list, rename, delete, restore and purge organizations."""


@org.command()
@click.argument("slug")
@click.option("--name", help="What people call it.  [default: the slug]")
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
@click.option("--deleted", is_flag=True, help="Also those that are deleted and not purged.")
@json_option
def list_organizations(*, deleted: bool, as_json: bool) -> None:
    """List the organizations by slug."""
    read = organizations.every if deleted else organizations.all_live
    with connected() as runtime, runtime.postgres.transaction() as session:
        rows = [_row(organization) for organization in read(session)]
    print_rows(rows, as_json=as_json)


@org.command()
@click.argument("slug")
@click.option("--name", help="What people call it from now on.")
@click.option("--new-slug", metavar="SLUG", help="What requests call it from now on.")
@json_option
def rename(slug: str, name: str | None, new_slug: str | None, *, as_json: bool) -> None:
    """Give the organization SLUG another name, another slug, or both.

    A new slug holds at once: who names the organization in X-Service-Org, or in EVALUATOR_ORGS, has
    to name the new one. Keys and sessions go on working.

    \b
    service-orgctl org rename acme --name 'Acme GmbH' --new-slug acme-gmbh
    """
    if name is None and new_slug is None:
        raise click.UsageError("say --name, --new-slug, or both")
    row = _change(lambda session: lifecycle.rename(session, slug, name=name, new_slug=new_slug))
    if as_json:
        print_json(row)
    else:
        click.echo(f"{slug} is now {row['slug']}, {row['name']}")


@org.command()
@click.argument("slug")
@json_option
def delete(slug: str, *, as_json: bool) -> None:
    """Delete the organization SLUG, so that it can be restored.

    Its keys stop working at once, and nobody who is signed in gets into it any more. Nothing is
    removed before `purge`, and the slug stays taken. The organization `default` is built in and
    cannot be deleted.
    """
    _print(_change(lambda session: lifecycle.delete(session, slug)), "deleted", as_json=as_json)


@org.command()
@click.argument("slug")
@json_option
def restore(slug: str, *, as_json: bool) -> None:
    """Undo the deletion of the organization SLUG: keys and members have access as before.

    What a purge removed that was interrupted does not come back.
    """
    _print(_change(lambda session: lifecycle.restore(session, slug)), "restored", as_json=as_json)


@org.command()
@click.argument("slug")
@click.option("--yes", "confirmed", metavar="SLUG", required=True, help="The slug once more.")
@json_option
def purge(slug: str, confirmed: str, *, as_json: bool) -> None:
    """Remove everything of the deleted organization SLUG for good, and tell how much it was.

    Its rows in PostgreSQL and ClickHouse, what waits in Redis, and the accounts of people who are a
    member of nothing else. Other organizations are not disturbed. It can take minutes; interrupted,
    it is to be run again, and counts what was left.

    \b
    service-orgctl org delete acme
    service-orgctl org purge acme --yes acme
    """

    def tell(doing: str) -> None:
        click.echo(f"purging {slug}: {doing}", err=True)

    with connected() as runtime:
        purged = purge_organization(runtime, slug, confirmed=confirmed, tell=tell)
    _print_purged(purged, as_json=as_json)


def _change(act: Callable[[Session], Organization]) -> Row:
    with connected() as runtime, at_once(runtime.postgres, runtime.redis) as session:
        return _row(act(session))


def _print(row: Row, done: str, *, as_json: bool) -> None:
    if as_json:
        print_json(row)
    else:
        click.echo(f"{done} {row['slug']} ({row['id']})")


def _print_purged(purged: Purged, *, as_json: bool) -> None:
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
