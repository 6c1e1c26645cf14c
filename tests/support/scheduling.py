"""The order of a whole run on several processes: the longest first, so that none ends much later.

`tests/durations.json` has the seconds of each file, as `bin/test --record` measured them. Flows
mostly wait, for intervals and for processes to start. On two processors two of the four processes
therefore run all of them, and the other tests use the time in which the flows wait.
"""

import json
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

DURATIONS = Path(__file__).resolve().parents[1] / "durations.json"

# These share one deployment and one browser.
_BROWSER = "tests/ui/browser/"
# Waits for five minutes, beside all others.
_CHAOS = "tests/chaos/"
_FLOWS = "tests/flows/"
# With more processes each file of flows goes its own way.
_FEW = 4


@cache
def recorded() -> dict[str, float]:
    """Returns the seconds of each file, empty before the first recording."""
    return json.loads(DURATIONS.read_bytes()) if DURATIONS.exists() else {}


def unit_of(nodeid: str, processes: int) -> str:
    """Returns what one process runs as a whole: a file, or a folder that shares something.

    All tests with a browser go to the same process, and so does all of chaos. A process that has
    two tests left gets the next file at once, which would wait for the long test of chaos. Of four
    processes two get all flows, and of fewer one.
    """
    for folder in (_BROWSER, _CHAOS):
        if nodeid.startswith(folder):
            return folder
    file = nodeid.partition("::")[0]
    if processes > _FEW or not file.startswith(_FLOWS):
        return file
    return f"{_FLOWS} {_halves().get(file, 0) if processes == _FEW else 0}"


@cache
def _halves() -> dict[str, int]:
    """Returns the half, 0 or 1, to which each recorded file of flows belongs; both take as long."""
    taken = [0.0, 0.0]
    halves = {}
    for file, secs in sorted(recorded().items(), key=lambda item: -item[1]):
        if file.startswith(_FLOWS):
            halves[file] = taken.index(min(taken))
            taken[halves[file]] += secs
    return halves


def longest_first(
    items: list[pytest.Item], processes: int, seconds: Mapping[str, float] | None = None
) -> None:
    """Sorts the tests by the recorded seconds of their units, and keeps each unit together.

    A file that was not recorded counts as long if it starts something, otherwise as short.
    """
    known = recorded() if seconds is None else seconds
    guesses = {
        item.nodeid.partition("::")[0]: float("inf") if item.get_closest_marker("flow") else 0.0
        for item in items
    }
    units: dict[str, float] = defaultdict(float)
    for file, guess in guesses.items():
        units[unit_of(file, processes)] += known.get(file, guess)
    items.sort(key=lambda item: -units[unit_of(item.nodeid, processes)])


class FlowsTogether(LoadFileScheduling):  # type: ignore[misc] # it has no types
    """Sends each unit to one process."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid, self.numnodes)


class Recording:
    """A plugin of the process that collects all reports: writes the seconds of each file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid.partition("::")[0]] += report.duration

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Keeps the earlier recording when a test failed, which may have ended early."""
        if exitstatus == pytest.ExitCode.OK:
            rounded = {file: round(secs, 1) for file, secs in sorted(self._seconds.items())}
            self._path.write_text(json.dumps(rounded, indent=1) + "\n")
