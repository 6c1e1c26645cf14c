"""A release that is killed: `python -m tests.support.killed_release 7`.

It counts the statements that change ClickHouse, and ends with SIGKILL before the one with that
number.
"""

import os
import signal
import sys
from collections.abc import Mapping

from shared.foundation.clickhouse import ClickHouse
from shared.upkeep import release

_count = 0
_execute = ClickHouse.execute


def _counted(self: ClickHouse, sql: str, params: Mapping[str, object] | None = None) -> None:
    global _count
    _count += 1
    if _count == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
    _execute(self, sql, params)


if __name__ == "__main__":
    ClickHouse.execute = _counted  # type: ignore[method-assign] # that is the point
    release.main([], prog_name="bin/release")
