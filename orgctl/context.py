"""The connections of a command, and the output of its result."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click
import msgspec
from clickhouse_driver.errors import ServerException
from sqlalchemy.exc import DBAPIError, ProgrammingError

from orgctl.caller import name_the_operator, record_command
from shared.foundation.core.config import load_settings
from shared.foundation.core.errors import ConfigurationError
from shared.foundation.core.logs import configure_logging
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue import unavailable_when_redis_is_gone

Row = dict[str, str | int | None]


@contextmanager
def connected() -> Iterator[Runtime]:
    """Connects to the stores that the environment's settings name, and records the command.

    Raises `ConfigurationError` when the environment is invalid, a database is not migrated or a
    store refuses a statement, and `Unavailable` when a store cannot be reached.
    """
    settings = load_settings()
    configure_logging(settings, "orgctl")
    name_the_operator()
    runtime = Runtime.connect(settings)
    try:
        with unavailable_when_redis_is_gone(), _told_in_a_sentence():
            record_command(runtime.postgres)
            yield runtime
    finally:
        runtime.close()


@contextmanager
def _told_in_a_sentence() -> Iterator[None]:
    """Turns a store's refusal, usually a missing grant, into one sentence in its own words."""
    try:
        yield
    except ProgrammingError as error:
        if getattr(error.orig, "pgcode", None) == "42P01":  # undefined_table
            raise ConfigurationError(
                "PostgreSQL is not migrated yet: run `bin/release` first"
            ) from error
        raise ConfigurationError(
            f"PostgreSQL refused the statement: {_first_line(error.orig)}"
        ) from error
    except DBAPIError as error:
        raise ConfigurationError(
            f"PostgreSQL refused the statement: {_first_line(error.orig)}"
        ) from error
    except ServerException as error:
        raise ConfigurationError(
            f"ClickHouse refused the statement: {_first_line(error.message)}"
        ) from error


def _first_line(said: object) -> str:
    return str(said).partition("Stack trace")[0].strip().partition("\n")[0]


def print_rows(rows: Sequence[Row], *, as_json: bool) -> None:
    """Prints a JSON array, or a table with one line for each row."""
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


def print_result(value: object, sentence: str, *, as_json: bool) -> None:
    """Prints a JSON document, or the sentence that says the same to people."""
    if as_json:
        print_json(value)
    else:
        click.echo(sentence)


def print_json(value: object) -> None:
    """Prints one indented JSON document."""
    click.echo(msgspec.json.format(msgspec.json.encode(value)).decode())


def _cell(value: str | int | None) -> str:
    return "-" if value is None else str(value)
