"""What every command needs: connections for as long as it runs, and a way to print its result."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import click
import msgspec
from sqlalchemy.exc import ProgrammingError

from shared.config import load_settings
from shared.errors import ConfigurationError
from shared.logs import configure_logging
from shared.runtime import Runtime

Command = TypeVar("Command", bound=Callable[..., Any])

Row = dict[str, str | int | None]


def json_option(command: Command) -> Command:
    """Adds `--json` to a command, which gets it as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(
        command
    )


@contextmanager
def connected() -> Iterator[Runtime]:
    """The runtime of the environment's settings.

    Raises `ConfigurationError` for a bad environment or databases that were never migrated, and
    `Unavailable` when one is away.
    """
    settings = load_settings()
    configure_logging(settings, "orgctl")
    runtime = Runtime.connect(settings)
    try:
        yield runtime
    except ProgrammingError as error:
        if getattr(error.orig, "pgcode", None) == "42P01":  # undefined_table
            raise ConfigurationError(
                "PostgreSQL is not migrated yet: run `bin/release` first"
            ) from error
        raise
    finally:
        runtime.close()


def print_rows(rows: Sequence[Row], *, as_json: bool) -> None:
    """A JSON array, or a table with a line a row."""
    if as_json:
        print_json(rows)
        return
    if not rows:
        click.echo("none")
        return
    table = [list(rows[0]), *([_cell(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        click.echo("  ".join(cells).rstrip())


def print_json(value: object) -> None:
    """One indented JSON document."""
    click.echo(msgspec.json.format(msgspec.json.encode(value)).decode())


def _cell(value: str | int | None) -> str:
    return "-" if value is None else str(value)
