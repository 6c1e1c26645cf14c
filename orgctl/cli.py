"""`service-orgctl`: the operator's commands. They run on the server, without the web tier."""

import sys

import click

from orgctl.audit_log import audit_log
from orgctl.backup import backup
from orgctl.deadletter import deadletter
from orgctl.dimensions import dimensions
from orgctl.exports import exports
from orgctl.mail import mail
from orgctl.members import member
from orgctl.organizations import org
from shared.foundation.core.errors import ConfigurationError, Invalid, WatchpostError


class Commands(click.Group):
    """The command group. An expected error ends the command with one sentence and exit code 1."""

    def invoke(self, ctx: click.Context) -> object:
        """Runs the chosen command."""
        try:
            return super().invoke(ctx)
        except (ConfigurationError, WatchpostError) as error:
            click.echo(f"Error: {_sentence(error)}", err=True)
            sys.exit(1)


def _sentence(error: Exception) -> str:
    """Returns the error's message, or for invalid fields each field with its reasons."""
    if isinstance(error, Invalid) and error.fields:
        return "; ".join(f"{name}: {', '.join(why)}" for name, why in error.fields.items())
    return str(error)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Administer a Watchpost deployment.

    The commands connect to the databases that DATABASE_URL, REDIS_URL and CLICKHOUSE_URL name. The
    web tier does not have to run.
    """


main.add_command(org)
main.add_command(member)
main.add_command(deadletter)
main.add_command(mail)
main.add_command(audit_log)
main.add_command(backup)
main.add_command(exports)
main.add_command(dimensions)
