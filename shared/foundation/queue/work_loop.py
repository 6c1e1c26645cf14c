"""The loop of workers that claim one piece of work after the other."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from shared.foundation.queue.tasks import Queue, Task

_Claimed = TypeVar("_Claimed")

# A thread returns to its queue after this long, so that a message never takes hours.
TURN_SECS = 30.0


def claimed(
    queue: Queue, task: Task, claim: Callable[[], _Claimed | None], stopping: threading.Event
) -> Iterator[_Claimed]:
    """Yields what `claim` returns until it returns None, `stopping` is set or the time is over.

    Nudges `task` after the first claim and at the end of the time, so that another thread looks
    for more while this one works.
    """
    ends = time.monotonic() + TURN_SECS
    is_first, is_over = True, False
    while not is_over and not stopping.is_set():
        work = claim()
        if work is None:
            return
        is_over = time.monotonic() > ends
        if is_first or is_over:
            queue.nudge_soon(task)
        is_first = False
        yield work
