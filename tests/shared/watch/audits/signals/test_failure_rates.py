"""Rates of failure: of the calls of a tool, and of the sessions that an agent ended."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from shared.foundation.clickhouse import ClickHouse
from shared.reading.queries.run import QueryRunner
from shared.watch.audits.signals import goal_failure, tool_failure
from shared.watch.audits.signals.interface import Find
from shared.watch.audits.signals.reading import MAX_CANDIDATES
from tests.shared.watch.audits.signals.lines import results, runs
from tests.support.looks import found_by, ingest, look_at, nested, require_reproduced
from tests.support.runtime import Org

# Makes the events of a name with so many failures and successes.
Make = Callable[..., list[bytes]]

TOOLS, AGENTS = (tool_failure.find, results), (goal_failure.find, runs)
both = pytest.mark.parametrize(("find", "make"), [TOOLS, AGENTS], ids=["tools", "agents"])


@both
def test_one_that_always_fails_is_found_among_many_busy_ones(
    clickhouse: ClickHouse, org: Org, find: Find, make: Make
) -> None:
    lines = [line for n in range(MAX_CANDIDATES) for line in make(f"busy {n}", 4, 196)]
    ingest(clickhouse, org.id, [*lines, *make("broken", 3, 0)])
    assert set(found_by(find, look_at(clickhouse, org.id))) == {("broken",)}


@both
def test_of_too_many_those_that_fail_most_surely_are_found_at_each_sensitivity(
    clickhouse: ClickHouse, org: Org, find: Find, make: Make
) -> None:
    numbers = range(MAX_CANDIDATES + 2)
    lines = [line for n in numbers for line in make(f"{n}: four of {4 + n % 2}", 4, n % 2)]
    # It is less certain, but a finding at low sensitivity, unlike the others.
    ingest(clickhouse, org.id, [*lines, *make("half of 24", 12, 12)])
    _, medium, high = nested(find, look_at(clickhouse, org.id))
    assert len(medium) == len(high) == MAX_CANDIDATES
    assert ("half of 24",) in medium
    assert {(f"{n}: four of 4",) for n in numbers[::2]} <= medium


# For each sensitivity, (failures, of how many) that it finds first, and those that none finds.
THRESHOLDS: list[tuple[tuple[Find, Make], list[list[tuple[int, int]]]]] = [
    (TOOLS, [[(15, 60)], [(3, 17)], [(2, 2), (3, 18)], [(1, 2)]]),
    (AGENTS, [[(12, 24)], [(3, 9)], [(3, 10), (2, 3)], [(1, 1), (0, 9)]]),
]


@pytest.mark.parametrize(("of", "steps"), THRESHOLDS, ids=["tools", "agents"])
def test_a_few_failures_are_no_rate(
    clickhouse: ClickHouse,
    org: Org,
    of: tuple[Find, Make],
    steps: list[list[tuple[int, int]]],
) -> None:
    find, make = of
    for failed, total in (one for step in steps for one in step):
        ingest(clickhouse, org.id, make(f"{failed} of {total}", failed, total - failed))
    named = [{(f"{failed} of {total}",) for failed, total in step} for step in steps]
    low, medium, high = nested(find, look_at(clickhouse, org.id))
    assert (low, medium - low, high - medium) == tuple(named[:3])


# (failures, successes) → severity and magnitude.
WEIGHTS: list[tuple[tuple[Find, Make], dict[tuple[int, int], tuple[str, str]]]] = [
    (
        TOOLS,
        {
            (30, 0): ("critical", "big"),
            (10, 10): ("warning", "big"),
            (6, 120): ("info", "small"),
        },
    ),
    (
        AGENTS,
        {
            (40, 0): ("critical", "big"),
            (40, 10): ("warning", "big"),
            # Too few to be sure.
            (10, 0): ("warning", "big"),
            (8, 72): ("info", "medium"),
        },
    ),
]


@pytest.mark.parametrize(("of", "weights"), WEIGHTS, ids=["tools", "agents"])
def test_severity_and_magnitude_follow_the_rate(
    clickhouse: ClickHouse,
    org: Org,
    of: tuple[Find, Make],
    weights: dict[tuple[int, int], tuple[str, str]],
) -> None:
    find, make = of
    for failed, good in weights:
        ingest(clickhouse, org.id, make(f"{failed} {good}", failed, good))
    found = found_by(find, look_at(clickhouse, org.id, sensitivity="high"))
    assert {key[0]: (one.severity, one.magnitude) for key, one in found.items()} == {
        f"{failed} {good}": weight for (failed, good), weight in weights.items()
    }


@both
def test_ignored_error_types_hold_in_numbers_and_evidence(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner, find: Find, make: Make
) -> None:
    odd = "it's\\ \x00odd"
    ingest(clickhouse, org.id, [*make("a", 5, 5), *make("b", 3, 0, error_type=odd)])
    look = look_at(clickhouse, org.id)
    assert found_by(find, look).keys() == {("a",), ("b",)}
    look = replace(look, ignore_error_types=(odd, "other"))
    [candidate] = found_by(find, look).values()
    assert candidate.numbers["failure_rate"] == 0.5
    require_reproduced(runner, look, candidate)
