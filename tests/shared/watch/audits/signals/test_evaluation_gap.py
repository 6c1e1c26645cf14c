"""Agents whose finished sessions are no longer evaluated."""

from datetime import datetime, timedelta
from itertools import pairwise

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.clock import to_us
from shared.reading.evaluations import store
from shared.reading.evaluations.records import Evaluation
from shared.reading.queries.run import QueryRunner
from shared.watch.audits.signals.evaluation_gap import find
from shared.watch.audits.signals.interface import Window
from tests.shared.watch.audits.signals.lines import BEFORE, NOW, line
from tests.support.evaluations import evaluation
from tests.support.looks import found_by, ingest, look_at, nested, require_reproduced
from tests.support.runtime import Org

Made = tuple[list[bytes], list[Evaluation]]


def put(clickhouse: ClickHouse, org: Org, *made: Made) -> None:
    """Stores events and results, each of them twice."""
    lines = [line for lines, _ in made for line in lines]
    results = [result for _, results in made for result in results]
    for _ in range(2):
        ingest(clickhouse, org.id, lines)
        store.insert(clickhouse, results)


def sessions(
    org: Org,
    day: datetime,
    ended: int,
    evaluated: int,
    agent: str = "main",
    environment: str = "production",
    first_second: int = 0,
) -> Made:
    """Returns sessions that ended a minute apart. The first of them have a result.

    One more is still open.
    """
    fields = {"agent_id": agent, "environment": environment}
    lines: list[bytes] = []
    results: list[Evaluation] = []
    for n in range(ended + 1):
        session_id, second = f"{agent}-{environment}-{day:%d}-{first_second}-{n}", n * 60
        second += first_second
        lines.append(line(day, second, session_id, "agent_start", **fields))
        # Another agent's end does not end the session.
        helper = {"agent_id": "helper", "environment": environment}
        lines.append(line(day, second + 1, session_id, "agent_end", **helper))
        if n < ended:
            lines.append(line(day, second + 2, session_id, "agent_end", **fields))
        if n < evaluated:
            completed_at = to_us(day) + (second + 9) * 1_000_000
            results.append(evaluation(org.id, session_id, completed_at, **fields))
    return lines, results


def test_an_agent_that_stopped_being_evaluated(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    put(clickhouse, org, sessions(org, BEFORE, 30, 29), sessions(org, NOW, 25, 2))
    look = look_at(clickhouse, org.id)
    [candidate] = found_by(find, look).values()
    assert candidate.key == ("main",)
    assert candidate.numbers == {
        "ended": 25,
        "evaluated": 2,
        "ended_before": 30,
        "evaluated_before": 29,
        "others_ended": 0,
        "others_evaluated": 0,
    }
    assert candidate.affected_sessions == 23
    assert candidate.session_ids[0] == "main-production-02-0-24"
    require_reproduced(runner, look, candidate)


def test_an_agent_without_earlier_results_has_no_gap(clickhouse: ClickHouse, org: Org) -> None:
    put(clickhouse, org, sessions(org, BEFORE, 40, 0), sessions(org, NOW, 40, 0))
    assert nested(find, look_at(clickhouse, org.id)) == [set(), set(), set()]


def test_a_new_agent_without_results_is_compared_with_the_others(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    made = [sessions(org, day, 40, 39, "known") for day in (BEFORE, NOW)]
    made.append(sessions(org, NOW, 20, 0, "new"))
    put(clickhouse, org, *made)
    look = look_at(clickhouse, org.id)
    [candidate] = found_by(find, look).values()
    assert candidate.key == ("new",)
    assert candidate.numbers["others_evaluated"] == 39
    require_reproduced(runner, look, candidate)


def test_one_fault_is_reported_once(clickhouse: ClickHouse, org: Org, runner: QueryRunner) -> None:
    made = []
    for environment in ("production", "staging"):
        made.append(sessions(org, BEFORE, 20, 20, "a", environment))
        made.append(sessions(org, NOW, 20, 0, "a", environment))
        made.append(sessions(org, BEFORE, 20, 20, "b", environment))
        made.append(sessions(org, NOW, 20, 20, "b", environment))
    put(clickhouse, org, *made)
    look = look_at(clickhouse, org.id)
    [candidate] = found_by(find, look).values()
    assert candidate.key == ("a",)
    assert candidate.numbers["ended"] == 40
    require_reproduced(runner, look, candidate)


def test_an_environment_is_named_where_another_one_is_well(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    made = []
    for environment, evaluated in (("production", 20), ("staging", 0)):
        made.append(sessions(org, BEFORE, 20, 20, "a", environment))
        made.append(sessions(org, NOW, 20, evaluated, "a", environment))
    # Too few to judge.
    made.append(sessions(org, NOW, 2, 0, "a", "canary"))
    put(clickhouse, org, *made)
    look = look_at(clickhouse, org.id)
    [candidate] = found_by(find, look).values()
    assert candidate.key == ("a", "staging")
    assert candidate.numbers["others_ended"] == 22
    require_reproduced(runner, look, candidate)


def test_an_evaluator_that_is_away_is_one_finding(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    made = []
    for agent in ("a", "b"):
        made.append(sessions(org, BEFORE, 20, 19, agent))
        made.append(sessions(org, NOW, 20, 0, agent))
    put(clickhouse, org, *made)
    look = look_at(clickhouse, org.id)
    [candidate] = found_by(find, look).values()
    assert candidate.key == ("*",)
    assert candidate.numbers["evaluated_before"] == 38
    require_reproduced(runner, look, candidate)


def test_a_gap_depends_on_the_sensitivity(clickhouse: ClickHouse, org: Org) -> None:
    made = []
    for agent, before, now in (
        ("none left", (40, 40), (40, 0)),
        ("a third left", (40, 40), (40, 13)),
        ("most of them left", (60, 60), (60, 38)),
        ("all left", (40, 38), (40, 37)),
        ("a sample", (40, 6), (40, 0)),
        ("few", (20, 20), (7, 0)),
    ):
        made.append(sessions(org, BEFORE, *before, agent))
        made.append(sessions(org, NOW, *now, agent))
    put(clickhouse, org, *made)
    low, medium, high = nested(find, look_at(clickhouse, org.id))
    assert {key[0] for key in low} == {"none left"}
    assert {key[0] for key in medium} == {"none left", "a third left"}
    assert {key[0] for key in high} == {
        "none left",
        "a third left",
        "most of them left",
        "few",
    }


def test_recently_ended_sessions_are_not_judged_yet(clickhouse: ClickHouse, org: Org) -> None:
    put(
        clickhouse,
        org,
        sessions(org, BEFORE, 30, 30),
        sessions(org, NOW, 30, 0, first_second=23 * 3600),
    )
    assert nested(find, look_at(clickhouse, org.id)) == [set(), set(), set()]


def test_of_windows_that_follow_each_other_one_judges_a_session(
    clickhouse: ClickHouse, org: Org
) -> None:
    put(clickhouse, org, sessions(org, NOW, 300, 300, "well"), sessions(org, NOW, 300, 0, "lost"))
    bounds = [NOW + timedelta(minutes=minutes) for minutes in (0, 90, 120, 240, 420)]
    judged = []
    for start, stop in pairwise(bounds):
        [candidate] = found_by(find, look_at(clickhouse, org.id, Window(start, stop))).values()
        assert candidate.key == ("lost",)
        judged.append(candidate.affected_sessions)
    # One session ends each minute.
    assert judged == [30, 30, 120, 120]


def test_the_last_hour_of_a_window_is_judged_by_the_next_one(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    put(
        clickhouse,
        org,
        sessions(org, BEFORE, 30, 30),
        sessions(org, BEFORE, 30, 0, "late", first_second=23 * 3600 + 1800),
        sessions(org, NOW, 30, 30),
    )
    look = look_at(clickhouse, org.id)
    [candidate] = found_by(find, look).values()
    assert (candidate.key, candidate.affected_sessions) == (("late",), 30)
    assert candidate.first_seen_at == NOW + timedelta(minutes=30, seconds=2)
    require_reproduced(runner, look, candidate)
    before = look_at(clickhouse, org.id, look.window.before)
    assert found_by(find, before) == {}


def test_later_events_change_neither_finding_nor_evidence(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    ended = sessions(org, NOW, 25, 2)
    put(clickhouse, org, sessions(org, BEFORE, 30, 29), ended, sessions(org, NOW, 10, 9, "b"))
    look = look_at(clickhouse, org.id)
    before = found_by(find, look)
    [candidate] = before.values()
    results = [
        evaluation(org.id, f"main-production-02-0-{n}", to_us(look.window.stop) + n)
        for n in range(25)
    ]
    day = 24 * 3600
    later = [
        line(NOW, day + n, f"main-production-{session}", event_type, agent_id=agent)
        for n, (session, event_type, agent) in enumerate(
            (
                ("02-0-3", "agent_end", "main"),
                ("02-0-4", "agent_start", "b"),
                ("02-0-25", "agent_end", "main"),
                ("01-0-30", "agent_end", "main"),
                ("01-0-0", "agent_end", "main"),
            )
        )
    ]
    put(clickhouse, org, (later, results))
    require_reproduced(runner, look, candidate)
    assert found_by(find, look) == before
