"""`service-orgctl … --help` of every command: complete without a manual."""

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from orgctl.cli import main


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yields the words of every command."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name)


def found(words: tuple[str, ...]) -> click.Command:
    command: click.Command = main
    for word in words:
        assert isinstance(command, click.Group)
        command = command.commands[word]
    return command


@pytest.mark.parametrize("words", list(commands(main)), ids=" ".join)
def test_help_describes_every_argument_and_every_option(words: tuple[str, ...]) -> None:
    # Without any variable set, and without a database.
    helped = CliRunner(env={"DATABASE_URL": None}).invoke(main, [*words, "--help"])
    assert helped.exit_code == 0
    command = found(words)
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
            assert all(name in helped.output for name in parameter.opts)
        else:
            name = parameter.make_metavar(click.Context(command)).strip("[]. ")
            assert name.rstrip(".]") in helped.output


@pytest.mark.parametrize("group", ["org", "member"])
def test_every_command_describes_its_arguments(group: str) -> None:
    of_group = main.commands[group]
    assert isinstance(of_group, click.Group)
    for name, command in of_group.commands.items():
        for parameter in command.params:
            if isinstance(parameter, click.Argument):
                assert str(parameter.name).upper() in str(command.help), name


def test_these_commands_exist() -> None:
    assert {
        *(("org", name) for name in ("create", "list", "rename", "delete", "restore", "purge")),
        *(("member", name) for name in ("add", "list", "update", "remove", "protect", "unprotect")),
    } <= set(commands(main))


@pytest.mark.parametrize(
    "words",
    [words for words in commands(main) if words[0] in ("org", "member")],
    ids=" ".join,
)
def test_every_command_prints_json_for_programs(words: tuple[str, ...]) -> None:
    assert "as_json" in {parameter.name for parameter in found(words).params}
