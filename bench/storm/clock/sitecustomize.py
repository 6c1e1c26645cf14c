"""Lets the clock of a process of the service jump; Python imports this first of all.

The file that STORM_CLOCK names holds the seconds by which the clock is wrong. `time.time`,
`time.time_ns` and `shared.foundation.core.clock.now` follow it. Clocks that only measure how long
something takes do not jump in reality either. Stores and programs that are not Python keep their
clocks.
"""

import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

_LOOK_SECS = 0.1


class _Clock:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._read_at = float("-inf")
        self._offset = 0.0
        self._time, self._time_ns = time.time, time.time_ns

    def offset(self) -> float:
        """Returns the seconds by which the clock is wrong now."""
        moment = time.monotonic()
        if moment - self._read_at > _LOOK_SECS:
            self._read_at = moment
            # The file is replaced at once, and may be missing for a moment.
            with suppress(OSError, ValueError):
                self._offset = float(self._file.read_text())
        return self._offset

    def time(self) -> float:
        return self._time() + self.offset()

    def time_ns(self) -> int:
        return self._time_ns() + int(self.offset() * 1e9)

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.offset())


class _OfTheService(MetaPathFinder):
    """Changes the module of the service's clock when it is imported."""

    def __init__(self, clock: _Clock) -> None:
        self._clock = clock

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "shared.foundation.core.clock":
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def changed(module: ModuleType) -> None:
                execute(module)
                module.now = self._clock.now  # type: ignore[attr-defined] # it is there

            spec.loader.exec_module = changed  # type: ignore[method-assign] # that is the point
        return spec


def _install(file: Path) -> None:
    clock = _Clock(file)
    time.time, time.time_ns = clock.time, clock.time_ns
    sys.meta_path.insert(0, _OfTheService(clock))


if "STORM_CLOCK" in os.environ:
    _install(Path(os.environ["STORM_CLOCK"]))
