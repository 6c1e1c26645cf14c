"""Deletions in a process that is killed: `python -m tests.support.killed_deletion`.

It ends with SIGKILL once it has sent a statement that changes ClickHouse. The server goes on with
the statement.
"""

import os
import signal
import threading
import time
from collections.abc import Mapping

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.config import load_settings
from shared.upkeep.deletions.running import Deletions
from tests.support.runtime import connected

_execute = ClickHouse.execute


def _killed(self: ClickHouse, sql: str, params: Mapping[str, object] | None = None) -> None:
    _execute(self, sql, params)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    ClickHouse.execute = _killed  # type: ignore[method-assign] # that is the point
    with connected(load_settings()) as runtime:
        while True:
            Deletions(runtime, threading.Event()).run()
            time.sleep(0.05)
