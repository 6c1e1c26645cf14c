"""The operator, as the audit log names whoever runs a command."""

import getpass
import os

from shared.audit_log import Caller, acting_as
from shared.core.ids import new_request_id


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


def _account() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # A container may run as a number that has no name.
        return f"uid {os.getuid()}"
