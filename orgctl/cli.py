"""`service-orgctl`: what operators do on the server, with or without a running web tier."""

import sys

import click

from orgctl.deadletter import deadletter
from orgctl.mail import mail
from orgctl.members import member
from orgctl.organizations import org
from shared.core.errors import ConfigurationError, Invalid, WatchpostError


class Commands(click.Group):
    """Ends a command that cannot be done with one sentence and exit code 1."""

    def invoke(self, ctx: click.Context) -> object:
        """Runs the chosen command."""
        try:
            return super().invoke(ctx)
        except (ConfigurationError, WatchpostError) as error:
            click.echo(f"Error: {_sentence(error)}", err=True)
            sys.exit(1)


def _sentence(error: Exception) -> str:
    """What was wrong; with fields, what was wrong with which."""
    if isinstance(error, Invalid) and error.fields:
        return "; ".join(f"{name}: {', '.join(why)}" for name, why in error.fields.items())
    return str(error)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Administer a Watchpost deployment.

    The commands talk to the databases directly, which DATABASE_URL, REDIS_URL and CLICKHOUSE_URL
    name. The web tier may be down meanwhile.
    """


# A group of commands is one line here.
main.add_command(org)
main.add_command(member)
main.add_command(deadletter)
main.add_command(mail)
