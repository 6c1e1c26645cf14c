"""Agents that end their sessions without reaching the goal."""

from dataclasses import replace

from shared.foundation.clickhouse import ClickHouse
from shared.reading.queries.run import QueryRunner
from shared.watch.audits.signals.goal_failure import find
from shared.watch.audits.signals.interface import Look, Window
from shared.watch.audits.signals.reading import MAX_CANDIDATES
from tests.support.airline import Airline
from tests.support.events import event
from tests.support.looks import DAY, found_by, ingest, look_at, nested, require_reproduced
from tests.support.runtime import Org


def runs(agent: str, failed: int, good: int, **fields: object) -> list[bytes]:
    """Returns sessions that an agent began and ended."""
    return [
        line
        for n in range(failed + good)
        for line in (
            event(f"{agent}-{n}", f"10:{n:02}:00", "agent_start", agent_id=agent, **fields),
            event(
                f"{agent}-{n}",
                f"10:{n:02}:30",
                "agent_end",
                agent_id=agent,
                outcome="failed" if n < failed else "success",
                **fields,
            ),
        )
    ]


def test_numbers_of_the_recording_are_those_of_its_labels(
    airline: Airline, airline_look: Look, runner: QueryRunner
) -> None:
    ended = {one for one, label in airline.labels.items() if label["ended"]}
    failed = {one for one in ended if airline.labels[one]["reward"] == 0.0}
    [candidate] = found_by(find, airline_look).values()
    assert candidate.key == ("airline-support",)
    assert candidate.numbers == {
        "failed_sessions": len(failed),
        "ended_sessions": len(ended),
        "failure_rate": len(failed) / len(ended),
    }
    assert (len(failed), len(ended)) == (112, 190)
    assert set(candidate.session_ids) <= failed
    assert (candidate.kind, candidate.severity, candidate.magnitude) == (
        "failure",
        "warning",
        "big",
    )
    require_reproduced(runner, airline_look, candidate)


def test_the_root_agents_last_end_counts_and_no_other(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    lines = [
        *runs("root", 3, 2),
        # A helper's failure does not count for its root.
        *(
            event(f"root-{n}", "10:59:00", "agent_end", agent_id="x", outcome="failed")
            for n in (3,)
        ),
        # First a failure, then a success, and the other way round.
        event("root-0", "10:50:00", "agent_end", agent_id="root", outcome="success"),
        event("root-4", "10:50:00", "agent_end", agent_id="root", outcome="timeout"),
        # A second end, after the window.
        event("root-1", "23:59:59", "agent_end", agent_id="root", outcome="success"),
        # Never ended; only its helper did.
        event("open", "10:00:00", "agent_start", agent_id="root"),
        event("open", "10:00:01", "agent_end", agent_id="helper", outcome="failed"),
    ]
    ingest(clickhouse, org.id, lines)
    look = look_at(clickhouse, org.id, sensitivity="high")
    look = replace(look, window=replace(look.window, stop=look.window.stop.replace(day=2, hour=23)))
    [candidate] = found_by(find, look).values()
    assert candidate.numbers == {"failed_sessions": 3, "ended_sessions": 5, "failure_rate": 0.6}
    assert set(candidate.session_ids) == {"root-1", "root-2", "root-4"}
    require_reproduced(runner, look, candidate)


def test_events_after_the_window_change_nothing(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    ingest(clickhouse, org.id, runs("root", 4, 3))
    # Without an agent_start, the agent of the first event is the root.
    ends = ("success", "failed", "failed")
    ingest(
        clickhouse,
        org.id,
        [
            event(f"bare-{n}", f"11:0{n}:00", "agent_end", agent_id="root", outcome=outcome)
            for n, outcome in enumerate(ends)
        ],
    )
    look = look_at(clickhouse, org.id, Window(DAY.start, DAY.start.replace(hour=12)))
    [candidate] = found_by(find, look).values()
    assert (candidate.numbers["failed_sessions"], candidate.numbers["ended_sessions"]) == (6, 10)
    later = [
        event("root-0", "12:00:00", "agent_end", agent_id="root", outcome="success"),
        event("root-5", "12:00:00", "agent_end", agent_id="root", outcome="failed"),
        event("root-1", "13:00:00", "model_request", agent_id="root"),
        event("root-2", "13:00:00", "agent_start", agent_id="other"),
        event("bare-0", "13:00:00", "agent_start", agent_id="other"),
        event("bare-1", "13:00:00", "agent_start", agent_id="other"),
    ]
    ingest(clickhouse, org.id, later)
    assert find(look) == [candidate]
    require_reproduced(runner, look, candidate)


def test_an_agent_that_always_fails_is_found_among_many_busy_ones(
    clickhouse: ClickHouse, org: Org
) -> None:
    for n in range(MAX_CANDIDATES):
        ingest(clickhouse, org.id, runs(f"busy {n}", 4, 56))
    ingest(clickhouse, org.id, runs("broken", 3, 0))
    assert set(found_by(find, look_at(clickhouse, org.id))) == {("broken",)}


def test_of_too_many_agents_those_that_fail_most_surely_are_found_at_each_sensitivity(
    clickhouse: ClickHouse, org: Org
) -> None:
    for n in range(MAX_CANDIDATES + 2):
        ingest(clickhouse, org.id, runs(f"{n}: five of {5 + n % 2}", 5, n % 2))
    ingest(clickhouse, org.id, runs("half of 24", 12, 12))
    _, medium, high = nested(find, look_at(clickhouse, org.id))
    assert len(medium) == len(high) == MAX_CANDIDATES
    assert ("half of 24",) in medium
    assert {(f"{n}: five of 5",) for n in range(0, MAX_CANDIDATES + 2, 2)} <= medium


def test_thresholds_follow_the_sensitivity(clickhouse: ClickHouse, org: Org) -> None:
    for agent, failed, good in (
        ("half of 24", 12, 12),
        ("3 of 9", 3, 6),
        ("3 of 10", 3, 7),
        ("2 of 3", 2, 1),
        ("1 of 1", 1, 0),
        ("none of 9", 0, 9),
    ):
        ingest(clickhouse, org.id, runs(agent, failed, good))
    low, medium, high = nested(find, look_at(clickhouse, org.id))
    assert low == {("half of 24",)}
    assert medium == low | {("3 of 9",)}
    assert high == medium | {("3 of 10",), ("2 of 3",)}


def test_only_an_agent_that_hardly_ever_succeeds_is_critical(
    clickhouse: ClickHouse, org: Org
) -> None:
    for agent, failed, good in (("never", 40, 0), ("often", 40, 10), ("few", 10, 0)):
        ingest(clickhouse, org.id, runs(agent, failed, good))
    found = found_by(find, look_at(clickhouse, org.id))
    assert {key[0]: one.severity for key, one in found.items()} == {
        "never": "critical",
        "often": "warning",
        "few": "warning",
    }


def test_scope_and_ignored_error_types_hold_in_numbers_and_evidence(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    odd = "it's\\ odd"
    ingest(clickhouse, org.id, runs(odd, 5, 5, environment=odd))
    ingest(clickhouse, org.id, runs("a", 5, 0, environment="other", error_type="expected"))
    look = look_at(clickhouse, org.id)
    assert set(found_by(find, look)) == {(odd,), ("a",)}
    for scoped in (
        replace(look, environments=(odd,)),
        replace(look, agent_ids=(odd, "nobody")),
        replace(look, ignore_error_types=("expected",)),
    ):
        [candidate] = found_by(find, scoped).values()
        assert candidate.key == (odd,)
        require_reproduced(runner, scoped, candidate)


def test_neither_another_organization_nor_a_copy_counts(
    clickhouse: ClickHouse, org: Org, airline_look: Look
) -> None:
    lines = runs("a", 4, 1)
    for _ in range(3):
        ingest(clickhouse, org.id, lines)
    [candidate] = found_by(find, look_at(clickhouse, org.id)).values()
    assert candidate.numbers == {"failed_sessions": 4, "ended_sessions": 5, "failure_rate": 0.8}
