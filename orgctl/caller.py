"""The operator and the command, as the audit log names them."""

import getpass
import os

import click

from shared.access.audit_log import Caller, acting_as, record
from shared.foundation.core.ids import new_request_id
from shared.foundation.postgres import Postgres

# Commands of these names only read.
READING = frozenset({"list", "show"})


def name_the_operator() -> None:
    """Names the caller of a command: the account on this machine, and where it signed in from."""
    found = Caller(
        "operator",
        os.environ.get("SUDO_USER") or _account(),
        "orgctl",
        address=os.environ.get("SSH_CLIENT", "").partition(" ")[0] or None,
        request_id=new_request_id(),
    )
    acting_as(lambda: found)


def record_command(postgres: Postgres) -> None:
    """Adds the command that runs, with its arguments, to the operator's own log.

    It is added before the command does anything, so that no command is missing, whatever becomes
    of it. Commands that only read are left out.
    """
    context = click.get_current_context(silent=True)
    if context is None or context.info_name in READING:
        return
    words: list[str] = []
    here = context
    while here.parent is not None:
        words.insert(0, str(here.info_name))
        here = here.parent
    given = {
        name: value for name, value in context.params.items() if value not in (None, (), False)
    }
    with postgres.transaction() as session:
        record(session, None, f"orgctl.{'_'.join(words).replace('-', '_')}", after=given)


def _account() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # A container may run as a number that has no name.
        return f"uid {os.getuid()}"
