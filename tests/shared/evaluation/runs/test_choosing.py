"""Which due runs are called next."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from shared.evaluation.runs.choosing import BACKFILL, CallPlaces, DueRun, choose

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
ORG_A, ORG_B = UUID(int=1), UUID(int=2)
E1, E2, E3 = UUID(int=11), UUID(int=12), UUID(int=13)


def run(number: int, evaluator: UUID, rank: int = 1, priority: int = 5) -> DueRun:
    org = ORG_B if evaluator == E3 else ORG_A
    at = NOON + timedelta(seconds=number)
    return DueRun(UUID(int=100 + number), org, evaluator, rank, priority, at)


def chosen(due: list[DueRun], free: int, **of: Any) -> list[int]:
    places = CallPlaces(free, of.get("backfills", free // 2), of.get("each", {E1: 9, E2: 9, E3: 9}))
    turns = {ORG_A: NOON, ORG_B: NOON + timedelta(seconds=1)}
    return [one.id.int - 100 for one in choose(due, places, turns)]


def test_organizations_take_turns_the_longest_waiting_first() -> None:
    due = [run(number, E1) for number in range(5)] + [run(number, E3) for number in (7, 8)]
    assert chosen(due, 4) == [0, 7, 1, 8]
    assert chosen(due, 7) == [0, 7, 1, 8, 2, 3, 4]


def test_an_organization_without_a_turn_is_first() -> None:
    places = CallPlaces(1, 0, {E1: 1, E3: 1})
    assert choose([run(0, E1), run(9, E3)], places, {ORG_A: NOON})[0].org_id == ORG_B


def test_runs_by_hand_come_first_then_those_of_a_higher_priority() -> None:
    due = [run(1, E1, priority=1), run(2, E2, priority=7), run(3, E1, rank=0, priority=0)]
    assert chosen(due, 3) == [3, 2, 1]


def test_an_evaluator_has_no_more_calls_than_its_concurrency() -> None:
    due = [run(number, E1) for number in range(4)] + [run(9, E2)]
    assert chosen(due, 9, each={E1: 2, E2: 1}) == [0, 1, 9]
    assert chosen(due, 9, each={E1: 0, E2: 1}) == [9]


def test_backfills_take_half_and_nothing_that_a_live_run_waits_for() -> None:
    backfill = [run(number, E3, rank=BACKFILL) for number in range(8)]
    assert len(chosen(backfill, 8)) == 4
    live = [run(20 + number, E1) for number in range(7)]
    assert chosen([*backfill, *live], 8) == [*range(20, 27), 0]
    assert chosen([*backfill, *live], 7) == [*range(20, 27)]
