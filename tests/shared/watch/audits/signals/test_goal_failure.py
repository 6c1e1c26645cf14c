"""Agents that end their sessions without reaching the goal."""

from dataclasses import replace

from shared.foundation.clickhouse import ClickHouse
from shared.reading.queries.run import QueryRunner
from shared.watch.audits.signals.goal_failure import find
from shared.watch.audits.signals.interface import Look, Window
from tests.shared.watch.audits.signals.lines import runs
from tests.support.airline import Airline
from tests.support.events import event
from tests.support.looks import DAY, found_by, ingest, look_at, require_reproduced
from tests.support.runtime import Org


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
