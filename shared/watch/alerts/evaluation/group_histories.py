"""What a rule remembers of its groups between evaluations. Pure."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from shared.watch.alerts.evaluation.breaches import History, Terms

# As `AlertState.groups`: by the value of the group.
Remembered = Mapping[str, Mapping[str, Any]]


def followed(
    remembered: Remembered, breaching: Collection[str], open_ones: Iterable[str], terms: Terms
) -> dict[str, History]:
    """Returns the histories of all groups that matter after one more evaluation.

    The breaching ones come first, in their order. A group that is not remembered was clean.
    """
    every = dict.fromkeys((*breaching, *remembered, *open_ones))
    return {
        group: _history(remembered.get(group, {})).followed_by(group in breaching, terms)
        for group in every
    }


def kept(
    remembered: Remembered, histories: Mapping[str, History], open_ones: Collection[str], since: int
) -> dict[str, dict[str, Any]]:
    """Returns what to remember: breaches that still count, and the clean ones of open incidents.

    So are the moments after `since` (microseconds) before which nothing of a group counts.
    """
    found = {}
    for group, history in histories.items():
        entry: dict[str, Any] = {}
        if any(history.recent) or group in open_ones:
            entry = {"recent": list(history.recent), "clean": history.clean}
        begins_at = remembered.get(group, {}).get("begins_at", 0)
        if begins_at > since:
            entry["begins_at"] = begins_at
        if entry:
            found[group] = entry
    return found


def _history(entry: Mapping[str, Any]) -> History:
    return History(tuple(entry.get("recent", ())), entry.get("clean", 0))
