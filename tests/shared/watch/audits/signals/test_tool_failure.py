"""Tools whose calls fail."""

import json
from collections import Counter, defaultdict

from shared.foundation.clickhouse import ClickHouse
from shared.reading.queries.run import QueryRunner
from shared.watch.audits.signals.interface import Look
from shared.watch.audits.signals.tool_failure import find
from tests.shared.watch.audits.signals.lines import results
from tests.support.airline import Airline
from tests.support.looks import found_by, ingest, look_at, require_reproduced
from tests.support.runtime import Org


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
