"""Chooses the next runs to call: organizations in turn, and backfills last. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

BACKFILL = 2


class DueRun(NamedTuple):
    """A run that may be called; `rank` is 0 by hand, 1 of a trigger, `BACKFILL` of a backfill."""

    id: UUID
    org_id: UUID
    evaluator_id: UUID
    rank: int
    priority: int
    next_attempt_at: datetime


@dataclass(frozen=True)
class CallPlaces:
    """The free places of the deployment, those that backfills may take, and of each evaluator."""

    free: int
    for_backfills: int
    of_evaluators: Mapping[UUID, int]


@dataclass
class _Choosing:
    left: int
    of_evaluators: dict[UUID, int]
    chosen: list[DueRun] = field(default_factory=list)

    def take(self, queues: Sequence[list[DueRun]], most: int) -> None:
        """Takes one run of each queue in turn, until `most` are taken or none can be."""
        waiting = [list(reversed(one)) for one in queues]
        while waiting and most > 0 and self.left > 0:
            for queue in list(waiting):
                run = self._next(queue)
                if run is None:
                    waiting.remove(queue)
                elif most > 0 and self.left > 0:
                    self.of_evaluators[run.evaluator_id] -= 1
                    self.left -= 1
                    most -= 1
                    self.chosen.append(run)

    def _next(self, queue: list[DueRun]) -> DueRun | None:
        while queue:
            run = queue.pop()
            if self.of_evaluators.get(run.evaluator_id, 0) > 0:
                return run
        return None


def choose(
    due: Sequence[DueRun], places: CallPlaces, turns: Mapping[UUID, datetime]
) -> list[DueRun]:
    """Returns the runs to call next, in their order.

    `turns` has the last turn of each organization; those without one come first. In an organization
    runs by hand come first, then those of triggers by priority. Backfills get only what is left.
    """
    choice = _Choosing(places.free, dict(places.of_evaluators))
    live = [one for one in due if one.rank < BACKFILL]
    choice.take(_queues(live, turns), places.free)
    backfills = [one for one in due if one.rank == BACKFILL]
    choice.take(_queues(backfills, turns), places.for_backfills)
    return choice.chosen


def _queues(due: Sequence[DueRun], turns: Mapping[UUID, datetime]) -> list[list[DueRun]]:
    by_org: dict[UUID, list[DueRun]] = defaultdict(list)
    for run in sorted(due, key=lambda one: (one.rank, -one.priority, one.next_attempt_at, one.id)):
        by_org[run.org_id].append(run)
    waited = sorted(by_org, key=lambda org: (org in turns, turns.get(org), str(org)))
    return [by_org[org] for org in waited]
