"""Ends the processes of a stack whose owner is gone.

`devstack.lock` runs it as `python -m devstack.reaper DIRECTORY` when a pipe closes that the owner
holds open. It closes when the owner ends, for any reason. A signal tied to the parent (Linux's
PR_SET_PDEATHSIG) would not do: it also fires when only the thread that started a server ends.
"""

import sys
from pathlib import Path

from devstack.processes import end, leftovers
from devstack.state import StateFile


def reap(directory: Path) -> int:
    """Ends the remaining processes of the stack in `directory` and returns their number."""
    state_file = StateFile(directory)
    left = leftovers(directory, state_file.read())
    end(left)
    state_file.clear()
    return len(left)


def main() -> None:
    """Cleans up after the owner of the directory."""
    directory = Path(sys.argv[1])
    if directory.exists():
        reap(directory)


if __name__ == "__main__":
    main()
