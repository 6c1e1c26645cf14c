"""Which agents and environments have a gap in their evaluations: decisions over counts."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from shared.signals.interface import Sensitivity


@dataclass(frozen=True)
class Threshold:
    """What counts as a gap.

    `min_ended` sessions in the window, and in the one before where that is what it is compared
    with. The share of evaluated ones is at most `remaining` times what it is compared with, which
    was at least `usual`: who evaluates a sample only has no gap.
    """

    min_ended: int
    remaining: float
    usual: float


THRESHOLDS: Mapping[Sensitivity, Threshold] = {
    "low": Threshold(20, 0.1, 0.8),
    "medium": Threshold(10, 0.5, 0.5),
    "high": Threshold(5, 0.7, 0.3),
}
# By chance, a share comes so far below the other once in ten thousand comparisons.
_Z = 3.7


class Count(NamedTuple):
    """Sessions that ended, and evaluated ones among them."""

    ended: int
    evaluated: int

    @property
    def share(self) -> float:
        """Of evaluated ones, 0 to 1."""
        return self.evaluated / self.ended if self.ended else 0.0


@dataclass(frozen=True)
class Group:
    """Sessions of one agent in one environment, of one agent (None), or of all (None, None)."""

    agent_id: str | None
    environment: str | None
    now: Count
    before: Count
    others: Count

    def is_gap(self, threshold: Threshold) -> bool:
        """Whether the share is far below the one before, else below that of the others."""
        if self.now.ended < threshold.min_ended:
            return False
        if self.before.ended >= threshold.min_ended and self.before.evaluated:
            return self._is_below(self.before, threshold)
        return self.others.ended >= threshold.min_ended and self._is_below(self.others, threshold)

    def holds(self, group: "Group") -> bool:
        """Whether another group is this one or a part of it."""
        return self.agent_id in (None, group.agent_id) and (
            self.environment in (None, group.environment)
        )

    def _is_below(self, usual: Count, threshold: Threshold) -> bool:
        pooled = (self.now.evaluated + usual.evaluated) / (self.now.ended + usual.ended)
        variance = pooled * (1 - pooled) * (1 / self.now.ended + 1 / usual.ended)
        return (
            usual.share >= threshold.usual
            and self.now.share <= threshold.remaining * usual.share
            and usual.share - self.now.share >= _Z * math.sqrt(variance)
        )


def gaps_of(groups: Sequence[Group], sensitivity: Sensitivity) -> list[Group]:
    """What is found at each sensitivity up to this one, so that a higher one never finds less."""
    found: list[Group] = []
    for level, threshold in THRESHOLDS.items():
        new = [
            group
            for group in groups
            if group.is_gap(threshold) and not any(one.holds(group) for one in found)
        ]
        found += _merged(groups, new, threshold)
        if level == sensitivity:
            break
    return found


def _merged(groups: Sequence[Group], gaps: Sequence[Group], threshold: Threshold) -> list[Group]:
    """The gaps, as one where all of an agent's environments, or all agents, have one."""
    judged = [group.agent_id for group in groups if group.now.ended >= threshold.min_ended]
    agents = Counter(group.agent_id for group in gaps)
    if len(agents) > 1 and len(gaps) == len(judged):
        return [_whole(groups, None)]
    merged = []
    for agent_id, count in agents.items():
        if count > 1 and count == judged.count(agent_id):
            merged.append(_whole(groups, agent_id))
        else:
            merged += [group for group in gaps if group.agent_id == agent_id]
    return merged


def _whole(groups: Sequence[Group], agent_id: str | None) -> Group:
    own = [group for group in groups if agent_id in (None, group.agent_id)]
    now = total_of(group.now for group in own)
    total = total_of(group.now for group in groups)
    before = total_of(group.before for group in own)
    return Group(agent_id, None, now, before, without(total, now))


def total_of(counts: Iterable[Count]) -> Count:
    """All of them together."""
    ended = evaluated = 0
    for count in counts:
        ended, evaluated = ended + count.ended, evaluated + count.evaluated
    return Count(ended, evaluated)


def without(total: Count, part: Count) -> Count:
    """What is left of a total that holds a part."""
    return Count(total.ended - part.ended, total.evaluated - part.evaluated)
