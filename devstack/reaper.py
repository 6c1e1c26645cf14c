"""Ends the processes of a stack whose owner is gone.

Run as `python -m devstack.reaper DIRECTORY` by the owner, with a pipe as standard input.
The pipe closes when the owner ends, however it ends; a signal tied to the parent (Linux's
PR_SET_PDEATHSIG) would also fire when only the thread that started a server ends.
"""

import sys
from pathlib import Path

from devstack.processes import end, leftovers
from devstack.state import StateFile


def reap(directory: Path) -> int:
    """Ends what still runs of the stack in `directory` and says how many processes that were."""
    state_file = StateFile(directory)
    left = leftovers(directory, state_file.read())
    end(left)
    state_file.clear()
    return len(left)


def main() -> None:
    """Waits for the owner to end."""
    sys.stdin.buffer.read()
    directory = Path(sys.argv[1])
    if directory.exists():
        reap(directory)


if __name__ == "__main__":
    main()
