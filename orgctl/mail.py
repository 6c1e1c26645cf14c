"""`service-orgctl mail`: list mails and their status; retry or drop those that failed."""

from uuid import UUID

import click
from sqlalchemy.orm import Session

from orgctl.context import Row, connected, print_rows
from orgctl.options import choice_of, json_option, limit_option
from shared.access import organizations
from shared.access.mail import administration
from shared.access.mail.models import Mail
from shared.foundation.core.clock import format_optional_ts, format_ts
from shared.foundation.core.errors import NotFound
from shared.foundation.core.ids import parse_uuid
from shared.foundation.queue.jobs import SEND_MAIL


@click.group()
def mail() -> None:
    """List the mails of the last weeks, send failed ones again, or drop them.

    The text of a mail is not kept. A mail fails when the mail server refuses it for good, or when
    every attempt of two days failed.
    """


@mail.command("list")
@click.option(
    "--status",
    type=click.Choice(["queued", "sent", "failed"]),
    help="Show only mails with this status.",
)
@click.option("--org", help="Show only mails about this organization, given by its slug.")
@limit_option
@json_option
def list_mails(status: str | None, org: str | None, limit: int, *, as_json: bool) -> None:
    """List mails, newest first."""
    with connected() as runtime, runtime.postgres.transaction() as session:
        slugs = {found.id: found.slug for found in organizations.all_live(session)}
        org_id = None if org is None else _org_id(session, org)
        mails = administration.list_(session, status=status, org_id=org_id, limit=limit)
        rows = [_row(found, slugs) for found in mails]
    print_rows(rows, as_json=as_json)


@mail.command()
@choice_of("failed mail")
def retry(ids: tuple[str, ...], everything: bool) -> None:
    """Send failed mails again, except sign-in codes: their recipients request a new one."""
    chosen = _choose(ids, everything)
    with connected() as runtime:
        with runtime.postgres.transaction() as session:
            done = administration.retry(session, chosen)
        runtime.queue.nudge_soon(SEND_MAIL)
    _tell_of_others(chosen, done, "retry")
    click.echo(f"{len(done)} queued again")


@mail.command()
@choice_of("failed mail")
@click.confirmation_option(prompt="Their recipients will not get them. Continue?")
def drop(ids: tuple[str, ...], everything: bool) -> None:
    """Delete failed mails for good."""
    chosen = _choose(ids, everything)
    with connected() as runtime, runtime.postgres.transaction() as session:
        done = administration.delete(session, chosen)
    _tell_of_others(chosen, done, "drop")
    click.echo(f"{len(done)} dropped")


def _choose(ids: tuple[str, ...], everything: bool) -> list[UUID] | None:
    """Returns the chosen ids, or None for all failed mails."""
    if everything:
        return None
    chosen = {mail_id: parse_uuid(mail_id) for mail_id in ids}
    for mail_id, parsed in chosen.items():
        if parsed is None:
            raise NotFound(f"there is no mail {mail_id}")
    return [parsed for parsed in chosen.values() if parsed is not None]


def _tell_of_others(chosen: list[UUID] | None, done: list[UUID], verb: str) -> None:
    for mail_id in chosen or ():
        if mail_id not in done:
            click.echo(f"Error: there is no failed mail {mail_id} to {verb}", err=True)


def _org_id(session: Session, slug: str) -> UUID:
    found = organizations.get(session, slug)
    if found is None:
        raise NotFound(f"there is no organization {slug}")
    return found.id


def _row(found: Mail, slugs: dict[UUID, str]) -> Row:
    return {
        "id": str(found.id),
        "org": None if found.org_id is None else slugs.get(found.org_id),
        "kind": found.kind,
        "recipient": found.recipient,
        "status": found.status,
        "attempts": found.attempts,
        "created_at": format_ts(found.created_at),
        "next_attempt_at": format_ts(found.next_attempt_at) if found.status == "queued" else None,
        "finished_at": format_optional_ts(found.finished_at),
        "last_error": found.last_error,
    }
