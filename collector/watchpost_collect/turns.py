"""When each file is tried: one that cannot be sent waits, and the others go on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from watchpost_collect.client import Client, NotTaken, wait_secs
from watchpost_collect.errors import Unavailable
from watchpost_collect.report import Report

_PAUSE_SECS = 60.0


class Turns:
    """The waits of a run.

    A file that fails waits by itself, longer each time. If several files fail and none is answered,
    Watchpost takes nothing now, and all wait longer each time.
    """

    def __init__(self, client: Client, report: Report) -> None:
        self._client = client
        self._report = report
        self._not_before: dict[Path, float] = {}
        self._failures: dict[Path, int] = {}
        # The files that failed since Watchpost last answered one for good.
        self._failing: set[Path] = set()
        self._answered = 0

    def is_due(self, path: Path) -> bool:
        """Returns whether the file need not wait."""
        return time.monotonic() >= self._not_before.get(path, 0.0)

    @contextmanager
    def of(self, path: Path) -> Iterator[None]:
        """Notes that the file has to wait if its disk or Watchpost raises an error.

        The file may have been sent before its disk failed, so trying at once would send it again
        and again.
        """
        try:
            yield
        except FileNotFoundError:  # taken away meanwhile
            self._report.gone(path)
        except OSError as error:
            self._leave(path, str(error))
        except NotTaken as failure:
            self._postpone(path, failure)
        except Unavailable as error:
            if self._other_failing(path):
                raise
            self._leave(path, str(error))
        else:
            self._failures.pop(path, None)

    def _postpone(self, path: Path, failure: NotTaken) -> None:
        """Lets the file wait, and then all others for a moment."""
        others = self._other_failing(path)
        self._failures[path] = self._failures.get(path, 0) + 1
        for_all = wait_secs(1 + others, failure.retry_after)
        wait = max(for_all, wait_secs(self._failures[path], failure.retry_after))
        self._not_before[path] = time.monotonic() + wait
        self._report.warn(f"{path}: {failure}; trying again in {wait:.1f} s")
        time.sleep(for_all)

    def _other_failing(self, path: Path) -> int:
        """Adds a file to those that fail, and returns the number of others."""
        if self._client.answered != self._answered:
            self._answered = self._client.answered
            self._failing.clear()
        self._failing.add(path)
        return len(self._failing) - 1

    def _leave(self, path: Path, reason: str) -> None:
        self._report.left(path, reason)
        self._not_before[path] = time.monotonic() + _PAUSE_SECS
