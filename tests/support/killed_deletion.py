"""Deletions in a process that is killed: `python -m tests.support.killed_deletion 1`.

It ends with SIGKILL once it has sent the statement with that number of those that change
ClickHouse. The server goes on with the statement.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Mapping

from shared.clickhouse import ClickHouse
from shared.core.config import load_settings
from shared.deletions.running import Deletions
from tests.support.runtime import connected

_count = 0
_execute = ClickHouse.execute


def _counted(self: ClickHouse, sql: str, params: Mapping[str, object] | None = None) -> None:
    global _count
    _execute(self, sql, params)
    _count += 1
    if _count == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    ClickHouse.execute = _counted  # type: ignore[method-assign] # that is the point
    with connected(load_settings()) as runtime:
        while True:
            Deletions(runtime, threading.Event()).run()
            time.sleep(0.05)
