"""Tools whose calls fail."""

import json
from collections import Counter, defaultdict
from dataclasses import replace

from shared.foundation.clickhouse import ClickHouse
from shared.reading.queries.run import QueryRunner
from shared.watch.audits.signals.interface import Look
from shared.watch.audits.signals.reading import MAX_CANDIDATES
from shared.watch.audits.signals.tool_failure import find
from tests.support.airline import Airline
from tests.support.events import event
from tests.support.looks import found_by, ingest, look_at, nested, require_reproduced
from tests.support.runtime import Org


def results(tool: str, failed: int, good: int, **fields: object) -> list[bytes]:
    """Returns results of a tool, each in a separate session."""
    return [
        event(
            f"{tool.encode().hex()[:20]}-{n}",
            f"10:{n // 60:02}:{n % 60:02}",
            "tool_result",
            tool_name=tool,
            **({"error": "it broke"} if n < failed else {}),
            **fields,
        )
        for n in range(failed + good)
    ]


def test_numbers_of_each_tool_of_the_recording(
    airline: Airline, airline_look: Look, runner: QueryRunner
) -> None:
    calls: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    sessions: defaultdict[str, set[str]] = defaultdict(set)
    for line in airline.lines:
        one = json.loads(line)
        if one["type"] == "tool_result":
            calls[one["tool_name"]] += 1
            if one.get("error"):
                failures[one["tool_name"]] += 1
                sessions[one["tool_name"]].add(one["session_id"])
    found = found_by(find, airline_look)
    assert set(found) == {("book_reservation",), ("update_reservation_flights",)}
    assert {tool for tool in failures if failures[tool] > 1} == {key[0] for key in found}
    for (tool,), candidate in found.items():
        assert candidate.numbers == {
            "calls": calls[tool],
            "failures": failures[tool],
            "failure_rate": failures[tool] / calls[tool],
            "failed_sessions": len(sessions[tool]),
        }
        assert set(candidate.session_ids) <= sessions[tool]
        assert candidate.severity == "warning"
        require_reproduced(runner, airline_look, candidate)


def test_a_few_failures_are_no_rate(clickhouse: ClickHouse, org: Org) -> None:
    ingest(clickhouse, org.id, results("one of two", 1, 1))
    ingest(clickhouse, org.id, results("two of two", 2, 0))
    ingest(clickhouse, org.id, results("three of 17", 3, 14))
    ingest(clickhouse, org.id, results("three of 18", 3, 15))
    ingest(clickhouse, org.id, results("15 of 60", 15, 45))
    low, medium, high = nested(find, look_at(clickhouse, org.id))
    assert low == {("15 of 60",)}
    assert medium == {("15 of 60",), ("three of 17",)}
    assert high == medium | {("two of two",), ("three of 18",)}


def test_a_tool_that_always_fails_is_found_among_many_busy_ones(
    clickhouse: ClickHouse, org: Org
) -> None:
    for n in range(MAX_CANDIDATES):
        ingest(clickhouse, org.id, results(f"busy {n}", 4, 196))
    ingest(clickhouse, org.id, results("broken", 3, 0))
    assert set(found_by(find, look_at(clickhouse, org.id))) == {("broken",)}


def test_of_too_many_tools_those_that_fail_most_surely_are_found_at_each_sensitivity(
    clickhouse: ClickHouse, org: Org
) -> None:
    for n in range(MAX_CANDIDATES + 2):
        ingest(clickhouse, org.id, results(f"{n}: three of {3 + n % 2}", 3, n % 2))
    ingest(clickhouse, org.id, results("five of ten", 5, 5))
    _, medium, high = nested(find, look_at(clickhouse, org.id))
    assert len(medium) == len(high) == MAX_CANDIDATES
    # It is less certain, but a finding at low sensitivity, unlike the others.
    assert ("five of ten",) in medium
    assert {(f"{n}: three of 3",) for n in range(0, MAX_CANDIDATES + 2, 2)} <= medium


def test_severity_and_magnitude_follow_the_rate(clickhouse: ClickHouse, org: Org) -> None:
    for tool, failed, good in (("never works", 30, 0), ("half", 10, 10), ("seldom", 6, 120)):
        ingest(clickhouse, org.id, results(tool, failed, good))
    found = found_by(find, look_at(clickhouse, org.id, sensitivity="high"))
    assert {key[0]: (one.severity, one.magnitude) for key, one in found.items()} == {
        "never works": ("critical", "big"),
        "half": ("warning", "big"),
        "seldom": ("info", "small"),
    }


def test_scope_and_ignored_error_types_hold_in_numbers_and_evidence(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    odd, error_type = "it's\\ odd", "it's\\ \x00odd"
    ingest(clickhouse, org.id, results("t", 5, 5, environment=odd, agent_id=odd))
    ingest(clickhouse, org.id, results("t", 4, 0, environment=odd, error_type=error_type, at=1))
    ingest(clickhouse, org.id, results("t", 9, 0, environment="other"))
    look = look_at(clickhouse, org.id)
    expected = {
        (): (23, 18),
        (odd,): (14, 9),
    }
    for environments, (calls, failures) in expected.items():
        scoped = replace(look, environments=environments)
        [candidate] = found_by(find, scoped).values()
        assert (candidate.numbers["calls"], candidate.numbers["failures"]) == (calls, failures)
        require_reproduced(runner, scoped, candidate)
    scoped = replace(look, environments=(odd,), ignore_error_types=(error_type, "other"))
    [candidate] = found_by(find, scoped).values()
    assert (candidate.numbers["calls"], candidate.numbers["failures"]) == (14, 5)
    require_reproduced(runner, scoped, candidate)
    scoped = replace(look, agent_ids=(odd,))
    [candidate] = found_by(find, scoped).values()
    assert candidate.numbers["calls"] == 10
    require_reproduced(runner, scoped, candidate)


def test_neither_another_organization_nor_a_copy_counts(
    clickhouse: ClickHouse, org: Org, airline_look: Look
) -> None:
    lines = results("t", 5, 5)
    for _ in range(3):
        ingest(clickhouse, org.id, lines)
    [candidate] = found_by(find, look_at(clickhouse, org.id)).values()
    assert candidate.numbers["calls"] == 10
    assert candidate.affected_sessions == len(candidate.session_ids) == 5


def test_a_hostile_name_is_shown_bounded_and_found_again(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    names = ["' OR 1 = 1 --", "a\x00\x07\u202eb\n{x:String} $1", "long'" * 5000]
    for name in names:
        ingest(clickhouse, org.id, results(name, 4, 1))
    look = look_at(clickhouse, org.id)
    found = found_by(find, look)
    assert set(found) == {(name[:200],) for name in names}
    for candidate in found.values():
        require_reproduced(runner, look, candidate)
