"""The order of a whole run on several processes: the longest first, so that none ends much later.

Flows mostly wait, for intervals and for processes to start. On two processors one process therefore
runs all of them, and the other tests use the time in which the flows wait.
"""

from collections import Counter

import pytest
from xdist.scheduler import LoadFileScheduling

_FLOWS = "tests/flows/"


def longest_first(items: list[pytest.Item]) -> None:
    """Sorts flows to the front, then files that start processes. Long flows are alone in a file."""
    counts = Counter(item.path for item in items)
    with_processes = {item.path for item in items if item.get_closest_marker("flow")}

    def rank(item: pytest.Item) -> tuple[bool, bool, int]:
        is_flow = item.nodeid.startswith(_FLOWS)
        return not is_flow, item.path not in with_processes, counts[item.path] if is_flow else 0

    items.sort(key=rank)


class FlowsTogether(LoadFileScheduling):  # type: ignore[misc] # it has no types
    """Sends each file to one process, and on two processes all flows to the same."""

    def _split_scope(self, nodeid: str) -> str:
        together = self.numnodes <= 2 and nodeid.startswith(_FLOWS)
        return _FLOWS if together else nodeid.partition("::")[0]
