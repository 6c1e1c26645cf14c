"""Options that several commands share."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

Command = Callable[..., None]

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
limit_option = click.option(
    "--limit",
    default=50,
    show_default=True,
    type=click.IntRange(1),
    help="The largest number to show.",
)


def choice_of(what: str) -> Callable[[Command], Command]:
    """Lets a command take `ids`, or the flag `--all` as `everything`, and exactly one of them."""

    def add(command: Command) -> Command:
        @click.argument("ids", metavar="[ID]...", nargs=-1)
        @click.option("--all", "everything", is_flag=True, help=f"Every {what}.")
        @wraps(command)
        def checked(ids: tuple[str, ...], everything: bool, **options: Any) -> None:
            if everything == bool(ids):
                raise click.UsageError(f"pass either the ids of {what}s or --all")
            command(ids=ids, everything=everything, **options)

        return checked

    return add
