"""`service-orgctl member`: the members of an organization and their permissions."""

from collections.abc import Callable
from dataclasses import asdict
from typing import TypeVar

import click
from sqlalchemy.orm import Session

from orgctl.context import Row, connected, print_json, print_result, print_rows
from orgctl.options import json_option
from shared.access import users
from shared.access.organizations import Organization
from shared.access.organizations.lifecycle import require
from shared.access.users import Grant, MemberRecord, operator
from shared.access.users.operator import Change
from shared.foundation.cache import at_once
from shared.foundation.core.clock import format_optional_ts
from shared.foundation.deployment.runtime import Runtime

_NO_SET = click.option("--no-set", is_flag=True, help="Use no permission set.")


@click.group()
def member() -> None:
    """Manage the members of an organization, including changes that only an operator may make.

    A member has the permissions of its permission set, plus those given with --add, minus those
    taken with --remove. Only these commands can grant `orgs:admin` and change protected members.
    Every change takes effect with the next request. No mail is sent.
    """


@member.command()
@click.argument("slug")
@click.argument("email")
@click.option(
    "--set",
    "permission_set",
    metavar="NAME",
    help="The permission set.  [default: the organization's]",
)
@_NO_SET
@click.option("--add", "added", metavar="TOKEN", multiple=True, help="Add this permission.")
@click.option("--remove", "removed", metavar="TOKEN", multiple=True, help="Take this one away.")
@click.option("--protected", is_flag=True, help="Other members cannot change or disable it.")
@json_option
def add(
    slug: str,
    email: str,
    permission_set: str | None,
    no_set: bool,
    added: tuple[str, ...],
    removed: tuple[str, ...],
    protected: bool,
    *,
    as_json: bool,
) -> None:
    """Make EMAIL a member of the organization SLUG. Creates the account if there is none.

    \b
    service-orgctl member add acme ada@example.com --set admin --add orgs:admin --protected
    """
    _require_one(permission_set, no_set)

    def act(runtime: Runtime, session: Session, org: Organization) -> MemberRecord:
        chosen = permission_set
        if chosen is None and not no_set:
            chosen = users.default_set(session, runtime.settings, org.id).name
        grant = Grant(chosen, added, removed)
        return operator.add(session, org.id, email, grant, is_protected=protected)

    _print(_change(slug, act), "added", as_json=as_json)


@member.command("list")
@click.argument("slug")
@json_option
def list_members(slug: str, *, as_json: bool) -> None:
    """List the members of the organization SLUG by address, including disabled ones.

    With --json, each member has its effective permissions and the parts they result from.
    """
    with connected() as runtime, runtime.postgres.transaction() as session:
        members = users.list_(session, require(session, slug).id)
    if as_json:
        print_json([_details(one) for one in members])
    else:
        print_rows([_row(one) for one in members], as_json=False)


@member.command()
@click.argument("slug")
@click.argument("email")
@click.option("--set", "permission_set", metavar="NAME", help="The new permission set.")
@_NO_SET
@click.option("--add", "added", metavar="TOKEN", multiple=True, help="Replaces all added ones.")
@click.option("--no-add", is_flag=True, help="Add no permissions.")
@click.option(
    "--remove", "removed", metavar="TOKEN", multiple=True, help="Replaces all removed ones."
)
@click.option("--no-remove", is_flag=True, help="Take no permissions away.")
@click.option("--enable", is_flag=True, help="Give a disabled member its access back.")
@json_option
def update(
    slug: str,
    email: str,
    permission_set: str | None,
    no_set: bool,
    added: tuple[str, ...],
    no_add: bool,
    removed: tuple[str, ...],
    no_remove: bool,
    enable: bool,
    *,
    as_json: bool,
) -> None:
    """Replace permissions of the member EMAIL of the organization SLUG.

    Options that are not given leave their part unchanged.

    \b
    service-orgctl member update acme ada@example.com --set standard --add keys:create --no-remove
    """
    for given, none, name in (
        (permission_set, no_set, "set"),
        (added, no_add, "add"),
        (removed, no_remove, "remove"),
    ):
        _require_one(given, none, name)
    wanted = Change(
        permission_set=permission_set,
        no_set=no_set,
        added=added if added or no_add else None,
        removed=removed if removed or no_remove else None,
        enable=enable,
    )
    if wanted == Change():
        raise click.UsageError("nothing to change: pass --set, --add, --remove, --no-… or --enable")
    found = _change(slug, lambda _, session, org: operator.change(session, org.id, email, wanted))
    _print(found, "updated", as_json=as_json)


@member.command()
@click.argument("slug")
@click.argument("email")
@json_option
def remove(slug: str, email: str, *, as_json: bool) -> None:
    """Remove the member EMAIL and its conversations from the organization SLUG.

    The person is signed out everywhere. An account without any other membership is removed too. The
    member that ADMIN_EMAIL names comes back when the web tier starts again.
    """
    account = _change(slug, lambda _, session, org: operator.remove(session, org.id, email))
    result = {"slug": slug, "email": email, "account_removed": account}
    print_result(result, f"removed {email}{' and the account' if account else ''}", as_json=as_json)


@member.command()
@click.argument("slug")
@click.argument("email")
@json_option
def protect(slug: str, email: str, *, as_json: bool) -> None:
    """Keep other members from changing or disabling the member EMAIL of the organization SLUG."""
    _print(_protect(slug, email, is_protected=True), "protected", as_json=as_json)


@member.command()
@click.argument("slug")
@click.argument("email")
@json_option
def unprotect(slug: str, email: str, *, as_json: bool) -> None:
    """Let other members change and disable the member EMAIL of the organization SLUG again."""
    _print(_protect(slug, email, is_protected=False), "unprotected", as_json=as_json)


@member.command()
@click.argument("slug")
@click.argument("email")
@json_option
def unlink(slug: str, email: str, *, as_json: bool) -> None:
    """Forget who EMAIL, a member of the organization SLUG, is at the sign-in provider.

    The person is signed out everywhere. The next sign-in there with this address links the account
    again, for example after the provider gave the address to another person.
    """
    count = _change(slug, lambda _, session, org: operator.unlink(session, org.id, email))
    result = {"slug": slug, "email": email, "identities": count}
    print_result(result, f"unlinked {email} from {count} identities", as_json=as_json)


Result = TypeVar("Result")


def _change(slug: str, act: Callable[[Runtime, Session, Organization], Result]) -> Result:
    with connected() as runtime, at_once(runtime.postgres, runtime.redis) as session:
        return act(runtime, session, require(session, slug))


def _protect(slug: str, email: str, *, is_protected: bool) -> MemberRecord:
    return _change(
        slug,
        lambda _, session, org: operator.protect(session, org.id, email, is_protected=is_protected),
    )


def _require_one(given: object, none: bool, name: str = "set") -> None:
    if given and none:
        raise click.UsageError(f"--{name} and --no-{name} cannot be used together")


def _print(found: MemberRecord, done: str, *, as_json: bool) -> None:
    print_result(_details(found), f"{done} {found.email} ({found.id})", as_json=as_json)


def _row(found: MemberRecord) -> Row:
    return {
        "id": str(found.id),
        "email": found.email,
        "permission_set": found.permission_set,
        "added": ",".join(found.permission_added) or None,
        "removed": ",".join(found.permission_removed) or None,
        "protected": "yes" if found.is_protected else None,
        "disabled_at": format_optional_ts(found.disabled_at),
    }


def _details(found: MemberRecord) -> dict[str, object]:
    times = ("disabled_at", "created_at", "updated_at")
    return asdict(found) | {name: format_optional_ts(getattr(found, name)) for name in times}
