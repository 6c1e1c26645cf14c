"""The extent of a gap: an environment of an agent, an agent, or all of them."""

from dataclasses import replace

import pytest

from shared.watch.audits.signals.gaps import Count, GapGroup, gaps_of, total_of, without

Counts = tuple[int, int]
Windows = tuple[Counts, Counts]

WELL, LOST = ((40, 39), (40, 40)), ((40, 0), (40, 40))
# The evaluator stopped before the previous window.
LONG_LOST = ((40, 0), (40, 0))


def found(**groups: Windows) -> set[tuple[str | None, str | None]]:
    """Returns the agents and environments of the gaps.

    A group is `agent_environment=(now, before)`.
    """
    made = []
    for name, (now, before) in groups.items():
        agent_id, environment = name.split("_")
        made.append(GapGroup(agent_id, environment, Count(*now), Count(*before), Count(0, 0)))
    total = total_of(group.now for group in made)
    gaps = gaps_of([replace(one, others=without(total, one.now)) for one in made], "medium")
    return {(gap.agent_id, gap.environment) for gap in gaps}


@pytest.mark.parametrize("lost", [LOST, LONG_LOST])
@pytest.mark.parametrize("ended", range(9))
def test_a_gap_of_an_environment_stays_one_however_few_sessions_the_other_one_has(
    lost: Windows, ended: int
) -> None:
    well = ((ended, ended), (40, 38))
    assert found(a_production=lost, a_staging=well, b_production=WELL) == {("a", "production")}


@pytest.mark.parametrize("ended", range(1, 9))
@pytest.mark.parametrize("before", [(40, 40), (40, 0), (0, 0)])
def test_a_gap_of_an_agent_stays_one_however_few_sessions_an_environment_has(
    before: Counts, ended: int
) -> None:
    lost = ((ended, 0), before)
    assert found(a_production=LOST, a_staging=lost, b_production=WELL) == {("a", None)}


@pytest.mark.parametrize("ended", range(9))
def test_a_gap_of_one_agent_stays_one_however_few_sessions_another_one_has(ended: int) -> None:
    well = ((ended, ended), (40, 38))
    assert found(a_production=LOST, b_production=well) == {("a", None)}
    if ended:
        assert found(a_production=LOST, b_production=well, c_production=LOST) == {
            ("a", None),
            ("c", None),
        }


@pytest.mark.parametrize("ended", range(1, 9))
@pytest.mark.parametrize("before", [(40, 40), (0, 0)])
def test_a_gap_of_all_stays_one_however_few_sessions_an_agent_has(
    before: Counts, ended: int
) -> None:
    few = ((ended, 0), before)
    assert found(a_x=LOST, b_x=LOST, c_x=few) == {(None, None)}
    if before[0]:
        assert found(a_x=LOST, b_x=few) == {(None, None)}


@pytest.mark.parametrize("ended", range(9))
def test_groups_without_earlier_results_are_no_part_of_a_gap(ended: int) -> None:
    never = ((ended, 0), (40, 0))
    assert found(a_production=LOST, a_sandbox=never) == {("a", "production")}


@pytest.mark.parametrize("evaluated", range(3))
def test_few_sessions_of_a_sample_do_not_widen_a_gap(evaluated: int) -> None:
    sampled = ((2, evaluated), (40, 20))
    assert found(a_production=LOST, a_staging=sampled, b_production=WELL) == {("a", "production")}


def test_environments_that_nothing_ended_in_do_not_split_a_gap_of_several() -> None:
    idle = ((0, 0), (40, 40))
    assert found(a_x=LOST, a_y=LOST, a_idle=idle, b_x=WELL) == {("a", None)}
    assert found(a_x=LOST, b_x=LOST, c_idle=idle) == {(None, None)}
