"""`service-orgctl org`: the organizations of a deployment."""

import click

from shared import organizations
from shared.clock import format_optional_ts, format_ts
from shared.organizations import Organization
from shared.orgctl.context import Row, connected, json_option, print_json, print_rows


@click.group()
def org() -> None:
    """Create and list organizations."""


@org.command()
@click.argument("slug")
@click.option("--name", help="What people call it.  [default: the slug]")
@json_option
def create(slug: str, name: str | None, *, as_json: bool) -> None:
    """Create the organization SLUG: a-z, 0-9 and single hyphens, at most 40 characters."""
    with connected() as runtime, runtime.postgres.transaction() as session:
        row = _row(organizations.create(session, slug, name))
    if as_json:
        print_json(row)
    else:
        click.echo(f"created {row['slug']} ({row['id']})")


@org.command("list")
@json_option
def list_organizations(*, as_json: bool) -> None:
    """List the organizations by slug."""
    with connected() as runtime, runtime.postgres.transaction() as session:
        rows = [_row(organization) for organization in organizations.all_live(session)]
    print_rows(rows, as_json=as_json)


def _row(organization: Organization) -> Row:
    return {
        "id": str(organization.id),
        "slug": organization.slug,
        "name": organization.name,
        "created_at": format_ts(organization.created_at),
        "deleted_at": format_optional_ts(organization.deleted_at),
    }
