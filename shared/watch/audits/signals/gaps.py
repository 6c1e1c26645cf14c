"""Decides from counts which agents and environments have a gap in their evaluations."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from shared.watch.audits.signals.interface import Sensitivity


@dataclass(frozen=True)
class GapThreshold:
    """The definition of a gap.

    At least `min_ended` sessions ended in the window, and in the reference. The share of evaluated
    sessions is at most `remaining` times the reference share, which was at least `usual`: an
    organization that evaluates only a sample has no gap.
    """

    min_ended: int
    remaining: float
    usual: float


# Fewer sessions prove little by themselves; a larger share of the usual one is no gap.
_FEW, _REMAINING = 5, 0.7

THRESHOLDS: Mapping[Sensitivity, GapThreshold] = {
    "low": GapThreshold(20, 0.1, 0.8),
    "medium": GapThreshold(10, 0.5, 0.5),
    "high": GapThreshold(_FEW, _REMAINING, 0.3),
}
# By chance a share is this far below the other one once in ten thousand comparisons.
_Z = 3.7
# A result of few sessions that is less likely than this by chance counts as real.
_UNLIKELY = 0.05


class GapState(Enum):
    """The state of the results of a group.

    `UNSEEN`: results came in the window before, and too few sessions ended since to decide.
    `UNKNOWN`: no results were expected, or there is no reference to compare with.
    """

    LOST = auto()
    WELL = auto()
    UNSEEN = auto()
    UNKNOWN = auto()


class Count(NamedTuple):
    """Ended sessions, and the evaluated ones among them."""

    ended: int
    evaluated: int

    @property
    def share(self) -> float:
        """The share of evaluated sessions, 0 to 1."""
        return self.evaluated / self.ended if self.ended else 0.0


@dataclass(frozen=True)
class GapGroup:
    """Sessions of one agent in one environment, of one agent (None), or of all (None, None)."""

    agent_id: str | None
    environment: str | None
    now: Count
    before: Count
    others: Count

    @property
    def columns(self) -> dict[str, str]:
        """The columns that distinguish the group's sessions from others, with their values."""
        values = {"agent_id": self.agent_id, "environment": self.environment}
        return {column: value for column, value in values.items() if value is not None}

    @property
    def usual(self) -> Count:
        """The reference of the share: the window before if known, else the other groups."""
        known = self.before.ended >= _FEW and self.before.evaluated
        return self.before if known else self.others

    @property
    def state(self) -> GapState:
        """The state, which shows whether most of the expected results are missing.

        Few sessions count like many if they are conclusive; otherwise the window before decides.
        """
        now, before, usual = self.now, self.before, self.usual.share
        if now.share > _REMAINING * usual:
            return GapState.WELL
        is_known = before.ended >= _FEW
        if not usual:
            return GapState.WELL if is_known else GapState.UNKNOWN
        if now.ended >= _FEW:
            return GapState.LOST
        if not is_known or not before.evaluated:
            return GapState.UNKNOWN
        return GapState.LOST if _chance(now, before) < _UNLIKELY else GapState.UNSEEN

    def is_gap(self, threshold: GapThreshold) -> bool:
        """Returns whether the share is far below the usual one, with enough sessions to be sure."""
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


def gaps_of(groups: Sequence[GapGroup], sensitivity: Sensitivity) -> list[GapGroup]:
    """Returns the gaps, each as large as possible: all agents, an agent, or an environment."""
    threshold = THRESHOLDS[sensitivity]
    return [group for group in _merged(groups) if group.is_gap(threshold)]


def _merged(groups: Sequence[GapGroup]) -> list[GapGroup]:
    # The extent of a gap must not depend on the sensitivity, so that a higher one finds the same
    # and more. It must not depend either on the number of sessions in groups that are well or fully
    # lost.
    lost = [group for group in groups if group.state is GapState.LOST]
    agents = dict.fromkeys(group.agent_id for group in lost)
    if len(agents) > 1 and not any(group.state is GapState.WELL for group in groups):
        return [_whole(groups, None)]
    merged = []
    for agent_id in agents:
        own = [group for group in groups if group.agent_id == agent_id]
        if _is_everywhere([group.state for group in own]):
            merged.append(_whole(groups, agent_id))
        else:
            merged += [group for group in own if group.state is GapState.LOST]
    return merged


def _is_everywhere(states: Sequence[GapState]) -> bool:
    """Returns whether an agent's environments are lost as one: several are, and none is well."""
    if GapState.WELL in states:
        return False
    return GapState.UNSEEN not in states or states.count(GapState.LOST) > 1


def _chance(now: Count, before: Count) -> float:
    """Returns the probability of at most this many results if the earlier share still applied."""
    # The rule of succession: five of five do not guarantee the sixth.
    share = (before.evaluated + 1) / (before.ended + 2)
    return sum(
        math.comb(now.ended, n) * share**n * (1 - share) ** (now.ended - n)
        for n in range(now.evaluated + 1)
    )


def _whole(groups: Sequence[GapGroup], agent_id: str | None) -> GapGroup:
    own = [group for group in groups if agent_id in (None, group.agent_id)]
    now = total_of(group.now for group in own)
    total = total_of(group.now for group in groups)
    before = total_of(group.before for group in own)
    return GapGroup(agent_id, None, now, before, without(total, now))


def total_of(counts: Iterable[Count]) -> Count:
    """Adds up the counts."""
    ended = evaluated = 0
    for count in counts:
        ended, evaluated = ended + count.ended, evaluated + count.evaluated
    return Count(ended, evaluated)


def without(total: Count, part: Count) -> Count:
    """Subtracts a part from a total that contains it."""
    return Count(total.ended - part.ended, total.evaluated - part.evaluated)
