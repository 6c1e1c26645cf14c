"""The order of a whole run on several processes: the longest first, so that none ends much later.

Flows mostly wait, for intervals and for processes to start. On two processors one of the three
processes therefore runs all of them, and the other tests use the time in which the flows wait.
"""

from collections import Counter

import pytest
from xdist.scheduler import LoadFileScheduling

# These share one deployment and one browser, and take longest.
_BROWSER = "tests/ui/browser/"
# Waits for five minutes, beside all others.
_CHAOS = "tests/chaos/"
_FLOWS = "tests/flows/"


def longest_first(items: list[pytest.Item]) -> None:
    """Sorts browser, chaos and flows to the front, then files that start processes.

    Long flows are alone in a file.
    """
    counts = Counter(item.path for item in items)
    with_processes = {item.path for item in items if item.get_closest_marker("flow")}

    def rank(item: pytest.Item) -> tuple[int, int]:
        if item.nodeid.startswith(_BROWSER):
            return 0, 0
        if item.nodeid.startswith(_CHAOS):
            return 1, 0
        if item.nodeid.startswith(_FLOWS):
            return 2, counts[item.path]
        return 3 if item.path in with_processes else 4, 0

    items.sort(key=rank)


class FlowsTogether(LoadFileScheduling):  # type: ignore[misc] # it has no types
    """Sends each file to one process, and of up to three processes all flows to the same.

    All tests with a browser go to the same process too, and so does all of chaos. A process that
    has two tests left gets the next file at once, which would wait for the long test of chaos.
    """

    def _split_scope(self, nodeid: str) -> str:
        for folder in (_BROWSER, _CHAOS):
            if nodeid.startswith(folder):
                return folder
        together = self.numnodes <= 3 and nodeid.startswith(_FLOWS)
        return _FLOWS if together else nodeid.partition("::")[0]
