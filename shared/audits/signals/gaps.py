"""Which agents and environments have a gap in their evaluations: decisions over counts."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from shared.audits.signals.interface import Sensitivity


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


# Fewer sessions do not tell much by themselves; a larger share of the usual one is no gap.
_FEW, _REMAINING = 5, 0.7

THRESHOLDS: Mapping[Sensitivity, Threshold] = {
    "low": Threshold(20, 0.1, 0.8),
    "medium": Threshold(10, 0.5, 0.5),
    "high": Threshold(_FEW, _REMAINING, 0.3),
}
# By chance, a share comes so far below the other once in ten thousand comparisons.
_Z = 3.7
# What few sessions show by chance less often than this is taken as seen.
_UNLIKELY = 0.05


class State(Enum):
    """What is known of the results of a group.

    `UNSEEN`: they came in the window before, and too few sessions ended since to say more.
    `UNKNOWN`: nothing was to be expected, or nothing is known to compare with.
    """

    LOST = auto()
    WELL = auto()
    UNSEEN = auto()
    UNKNOWN = auto()


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

    @property
    def usual(self) -> Count:
        """What the share is compared with: that of the window before, else that of the others."""
        known = self.before.ended >= _FEW and self.before.evaluated
        return self.before if known else self.others

    @property
    def state(self) -> State:
        """Whether most results that were to be expected are missing.

        Few sessions are no other than many: they are lost or well as far as they show it, and
        count with what the window before showed where they do not.
        """
        now, before, usual = self.now, self.before, self.usual.share
        if now.share > _REMAINING * usual:
            return State.WELL
        is_known = before.ended >= _FEW
        if not usual:
            return State.WELL if is_known else State.UNKNOWN
        if now.ended >= _FEW:
            return State.LOST
        if not is_known or not before.evaluated:
            return State.UNKNOWN
        return State.LOST if _chance(now, before) < _UNLIKELY else State.UNSEEN

    def is_gap(self, threshold: Threshold) -> bool:
        """Whether the share is far below the usual one, and enough sessions say so."""
        now, usual = self.now, self.usual
        if min(now.ended, usual.ended) < threshold.min_ended:
            return False
        pooled = (now.evaluated + usual.evaluated) / (now.ended + usual.ended)
        variance = pooled * (1 - pooled) * (1 / now.ended + 1 / usual.ended)
        return (
            usual.share >= threshold.usual
            and now.share <= threshold.remaining * usual.share
            and usual.share - now.share >= _Z * math.sqrt(variance)
        )


def gaps_of(groups: Sequence[Group], sensitivity: Sensitivity) -> list[Group]:
    """The gaps, each as one as far as it goes: all agents, an agent, or one of its environments."""
    threshold = THRESHOLDS[sensitivity]
    return [group for group in _merged(groups) if group.is_gap(threshold)]


def _merged(groups: Sequence[Group]) -> list[Group]:
    # How far a gap goes does not depend on the sensitivity, so that a higher one finds the same
    # and more; nor on how many sessions ended where all is well or where nothing is left.
    lost = [group for group in groups if group.state is State.LOST]
    agents = dict.fromkeys(group.agent_id for group in lost)
    if len(agents) > 1 and not any(group.state is State.WELL for group in groups):
        return [_whole(groups, None)]
    merged = []
    for agent_id in agents:
        own = [group for group in groups if group.agent_id == agent_id]
        if _is_everywhere([group.state for group in own]):
            merged.append(_whole(groups, agent_id))
        else:
            merged += [group for group in own if group.state is State.LOST]
    return merged


def _is_everywhere(states: Sequence[State]) -> bool:
    """Whether environments of an agent are lost as one: none is well, and not just one is lost."""
    if State.WELL in states:
        return False
    return State.UNSEEN not in states or states.count(State.LOST) > 1


def _chance(now: Count, before: Count) -> float:
    """How likely at most so many results are, had they come as they did before."""
    # By the rule of succession: all of five is not for sure all of the next one.
    share = (before.evaluated + 1) / (before.ended + 2)
    return sum(
        math.comb(now.ended, n) * share**n * (1 - share) ** (now.ended - n)
        for n in range(now.evaluated + 1)
    )


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
