"""`service-orgctl deadletter`: list, retry or drop the events that could not be stored."""

from collections.abc import Callable, Iterable
from itertools import islice

import click

from orgctl.context import Row, connected, print_json, print_rows
from orgctl.options import choice_of, json_option, limit_option
from shared.foundation.core.clock import format_us
from shared.foundation.core.errors import NotFound
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.jobs import PERSIST_EVENTS
from shared.intake.ingest import dead_letters
from shared.intake.ingest.dead_letters import DeadLetter


@click.group()
def deadletter() -> None:
    """List the events that ClickHouse refused, send them again, or drop them.

    An event becomes a dead letter, with the reason, when ClickHouse would refuse it every time. Fix
    the cause, then retry: the event goes back to the end of its organization's queue.
    """


@deadletter.command("list")
@click.option("--org", help="Show only this organization, given by its slug.")
@limit_option
@json_option
def list_letters(org: str | None, limit: int, *, as_json: bool) -> None:
    """List dead letters, oldest first."""
    with connected() as runtime:
        letters = list(islice(dead_letters.letters(runtime.redis, org), limit))
        total = dead_letters.count(runtime.redis)
    print_rows([_row(letter) for letter in letters], as_json=as_json)
    if not as_json and total > len(letters):
        click.echo(f"{len(letters)} of {total}")


@deadletter.command()
@click.argument("letter_id", metavar="ID")
@json_option
def show(letter_id: str, *, as_json: bool) -> None:
    """Show one dead letter, with its event as it was sent."""
    with connected() as runtime:
        letter = dead_letters.get(runtime.redis, letter_id)
    batch = letter.batch
    payload = None if batch is None else batch.payloads[0].decode(errors="replace")
    row: Row = {**_row(letter), "payload": payload}
    if as_json:
        print_json(row)
        return
    for name, value in row.items():
        click.echo(f"{name:12}{'-' if value is None else value}")


@deadletter.command()
@choice_of("dead letter")
@click.option("--org", help="With --all: only those of this organization, given by its slug.")
def retry(ids: tuple[str, ...], everything: bool, org: str | None) -> None:
    """Send events to their organization's queue again."""
    with connected() as runtime:
        chosen = _choose(runtime, ids, everything, org)
        done = _each(chosen, lambda letter: dead_letters.retry(runtime.redis, letter))
        runtime.queue.nudge(PERSIST_EVENTS)
    click.echo(f"{done} sent again")


@deadletter.command()
@choice_of("dead letter")
@click.option("--org", help="With --all: only those of this organization, given by its slug.")
@click.confirmation_option(prompt="This deletes their events for good. Continue?")
def drop(ids: tuple[str, ...], everything: bool, org: str | None) -> None:
    """Delete dead letters and their events for good."""
    with connected() as runtime:
        chosen = _choose(runtime, ids, everything, org)
        done = _each(chosen, lambda letter: dead_letters.drop(runtime.redis, letter))
    click.echo(f"{done} dropped")


def _choose(
    runtime: Runtime, ids: tuple[str, ...], everything: bool, org: str | None
) -> list[DeadLetter]:
    if everything:
        return list(dead_letters.letters(runtime.redis, org))
    return [dead_letters.get(runtime.redis, letter_id) for letter_id in ids]


def _each(letters: Iterable[DeadLetter], act: Callable[[DeadLetter], None]) -> int:
    """Acts on each letter. Prints an error for a letter that is gone and goes on with the rest."""
    done = 0
    for letter in letters:
        try:
            act(letter)
            done += 1
        except NotFound as error:
            click.echo(f"Error: {error}", err=True)
    return done


def _row(letter: DeadLetter) -> Row:
    batch = letter.batch
    set_aside_us = int(letter.id.partition("-")[0]) * 1000
    return {
        "id": letter.id,
        "org": letter.org_slug,
        "set_aside_at": format_us(set_aside_us),
        "session_id": None if batch is None else batch.session_ids[0],
        "event_type": None if batch is None else batch.event_types[0],
        "reason": letter.reason,
    }
