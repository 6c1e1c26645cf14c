"""The operator's tool, killed at a call: `python -m tests.support.killed_at MODULE:NAME 2 WORDS…`.

It ends with SIGKILL before the call of the function with that number. WORDS are those of the tool.
"""

import os
import signal
import sys
from importlib import import_module
from typing import Any

from orgctl.cli import main


def killed_before(place: str, number: int) -> None:
    """Has the process killed before this call of the function in `place`."""
    module, _, name = place.partition(":")
    owner = import_module(module)
    real, calls = getattr(owner, name), 0

    def counted(*args: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **named)

    setattr(owner, name, counted)


if __name__ == "__main__":
    killed_before(sys.argv[1], int(sys.argv[2]))
    main(sys.argv[3:], prog_name="service-orgctl")
