"""The priority of `web` among the programs of a machine."""

import os
from contextlib import suppress
from pathlib import Path

# The rest of ingest can wait for the processor. Collectors and people wait for the answer.
_NICENESS = -10
_AUTOGROUP = Path("/proc/self/autogroup")


def go_first() -> None:
    """Lets this process and its children have the processor before others, if it may.

    Only root and processes with CAP_SYS_NICE may. Where Linux shares the processor among sessions
    first (`kernel.sched_autogroup_enabled`), the niceness of a process counts only inside its
    session. So the session gets the same one, unless it is that of a shell.
    """
    with suppress(OSError):
        os.nice(_NICENESS)
        if os.getsid(0) == os.getpid():
            _AUTOGROUP.write_text(str(_NICENESS))
