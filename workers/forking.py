"""Child processes that share the memory of their parent, and end with it."""

import os
import sys
import threading
from collections.abc import Callable

from shared.foundation.core.errors import ConfigurationError, WatchpostError
from shared.foundation.core.logs import get_logger

log = get_logger(__name__)


class LifeLine:
    """A pipe that only the parent holds open, so it closes however the parent ends."""

    def __init__(self) -> None:
        self._end, self._held = os.pipe()

    def stop_with_parent(self, stop: threading.Event) -> None:
        """Sets `stop` when the parent has ended; for its children."""
        os.close(self._held)
        threading.Thread(target=self._watch, args=(stop,), daemon=True).start()

    def close(self) -> None:
        """Closes the pipe in the parent."""
        os.close(self._held)
        os.close(self._end)

    def _watch(self, stop: threading.Event) -> None:
        os.read(self._end, 1)
        stop.set()


def fork(run: Callable[[], None]) -> int:
    """Calls `run` in a new process and returns its id; its exit code is 1 if `run` raises.

    The caller must be the only thread: no other one exists in the child, and a lock that it holds
    would stay locked there.
    """
    if threading.active_count() > 1:
        raise RuntimeError("a process with several threads cannot be forked")
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        run()
        code = 0
    except (ConfigurationError, WatchpostError) as error:
        log.error("worker_refused_to_start", reason=str(error))  # noqa: TRY400 one sentence says it
    except BaseException:
        log.exception("worker_broke")
    finally:
        sys.stderr.flush()
        # Leaves out what the parent wants to do at its own end.
        os._exit(code)
