"""Sessions that stopped without an end of their root agent."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from clickhouse_driver import Client

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.clock import to_us
from shared.foundation.core.ids import new_id
from shared.foundation.deployment.runtime import Runtime
from shared.reading.queries.guard.statement import guard
from shared.reading.queries.run import QueryRunner
from shared.watch.audits.signals.abandoned_session import find
from shared.watch.audits.signals.interface import Look, Window
from tests.support.airline import Airline
from tests.support.events import event
from tests.support.looks import found_by, ingest, look_at, nested, require_reproduced
from tests.support.runtime import Org, make_org


def at(text: str) -> datetime:
    """Returns a moment of the day of `event`."""
    return datetime.fromisoformat(f"2026-11-02T{text}").replace(tzinfo=UTC)


def stops(agent: str, moments: list[str], *, ended: bool = False, **fields: object) -> list[bytes]:
    """Returns sessions of an agent, each with its last event at one of the moments."""
    lines = []
    for n, moment in enumerate(moments):
        kind = "agent_end" if ended else "model_request"
        session = f"{agent}-{ended}-{n}"
        lines.append(event(session, "00:00:00", "agent_start", agent_id=agent, **fields))
        lines.append(event(session, moment, kind, agent_id=agent, **fields))
    return lines


def test_those_of_the_recording_are_those_of_its_labels(
    airline: Airline, airline_look: Look, runner: QueryRunner
) -> None:
    unended = {one for one, label in airline.labels.items() if not label["ended"]}
    assert len(unended) == 10
    for sensitivity in ("low", "medium", "high"):
        look = replace(airline_look, sensitivity=sensitivity)
        [candidate] = found_by(find, look).values()
        assert candidate.numbers == {
            "abandoned_sessions": 10,
            "ended_sessions": 190,
            "abandoned_rate": 0.05,
        }
        assert set(candidate.session_ids) == unended
        assert len(candidate.event_ids) == 10
        assert candidate.severity == "warning"
        require_reproduced(runner, look, candidate)


def test_a_session_that_may_go_on_is_not_abandoned(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    lines = [
        *stops("a", ["10:00:00", "11:29:59.999999", "11:30:00", "11:59:00", "12:30:00"]),
        *stops("a", ["10:00:00"], ended=True),
    ]
    ingest(clickhouse, org.id, lines)
    look = look_at(clickhouse, org.id, Window(at("00:30:00"), at("12:00:00")))
    [candidate] = found_by(find, look).values()
    # The last session came back after the window. Within the window it had stopped like the others.
    assert candidate.numbers == {
        "abandoned_sessions": 3,
        "ended_sessions": 1,
        "abandoned_rate": 3 / 4,
    }
    assert candidate.session_ids == ("a-False-1", "a-False-0", "a-False-4")
    require_reproduced(runner, look, candidate)


def test_events_after_the_window_change_neither_finding_nor_evidence(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    ingest(clickhouse, org.id, stops("a", ["10:00:00"] * 5))
    ingest(clickhouse, org.id, stops("a", ["10:00:00", "11:00:00"], ended=True))
    unstarted = [event(f"bare-{n}", "10:00:00", agent_id="a") for n in range(2)]
    ended = event("bare-1", "10:00:01", "agent_end", agent_id="a")
    ingest(clickhouse, org.id, [*unstarted, ended])
    look = look_at(clickhouse, org.id, Window(at("00:00:00"), at("12:00:00")))
    before = found_by(find, look)
    [candidate] = before.values()
    assert candidate.numbers == {
        "abandoned_sessions": 6,
        "ended_sessions": 3,
        "abandoned_rate": 6 / 9,
    }
    later = [
        event("a-False-0", "12:00:00", agent_id="a"),
        event("a-False-1", "13:00:00", "agent_end", agent_id="a"),
        event("a-False-2", "13:00:00", "agent_end", agent_id="b"),
        event("a-True-0", "14:00:00", "agent_end", agent_id="a"),
        # These sessions get their root agent from the first event, and only later an agent_start.
        *(event(f"bare-{n}", "15:00:00", "agent_start", agent_id="b") for n in range(2)),
        event("bare-1", "15:00:01", "agent_end", agent_id="b"),
        *(event("new", ts, "agent_start", agent_id="a") for ts in ("12:00:00", "12:00:01")),
    ]
    ingest(clickhouse, org.id, later)
    require_reproduced(runner, look, candidate)
    assert found_by(find, look) == before


def test_evidence_does_not_read_what_was_over_before(
    runtime: Runtime, clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    old = 100_000
    clickhouse.rows(
        "INSERT INTO events (org_id, id, session_id, agent_id, event_type, environment, ts)"
        " SELECT {org_id:String}, number, concat('old-', toString(intDiv(number, 20))), 'a',"
        " 'tool_use', 'default', fromUnixTimestamp64Micro({since:Int64} + number * 1000000)"
        f" FROM numbers({old})",
        {"org_id": org.id, "since": to_us(at("00:00:00") - timedelta(days=30))},
    )
    ingest(clickhouse, org.id, stops("a", ["09:00:00"] * 3))
    ingest(clickhouse, org.id, stops("a", ["09:00:00"], ended=True))
    [candidate] = found_by(find, look_at(clickhouse, org.id)).values()
    with Client.from_url(runtime.settings.clickhouse_readonly_url or "") as client:
        for query in candidate.queries:
            statement = guard(query.sql, [], schema=runner.schema).sql
            assert client.execute(statement, query_id=f"{org.id}:{new_id()}")
            assert client.last_query.progress.rows < old


def test_of_windows_that_follow_each_other_one_has_a_session(
    clickhouse: ClickHouse, org: Org
) -> None:
    moments = [f"{hour:02}:{minute:02}:00" for hour in range(1, 5) for minute in range(0, 60, 7)]
    ingest(clickhouse, org.id, stops("a", moments))
    seen: list[str] = []
    for hour in range(1, 8):
        look = look_at(clickhouse, org.id, Window(at(f"0{hour}:00:00"), at(f"0{hour + 1}:00:00")))
        for candidate in found_by(find, look).values():
            seen += candidate.session_ids
    assert sorted(seen) == sorted(f"a-False-{n}" for n in range(len(moments)))


def test_sensitivity_tells_how_long_and_how_many(clickhouse: ClickHouse, org: Org) -> None:
    idle = {"short": ["11:45:00"] * 9, "longer": ["11:15:00"] * 2, "long": ["09:00:00"] * 5}
    idle |= {"alone": ["08:00:00"], "four": ["07:00:00"] * 4}
    for agent, moments in idle.items():
        ingest(clickhouse, org.id, stops(agent, moments))
    look = look_at(clickhouse, org.id, Window(at("05:00:00"), at("12:00:00")))
    low, medium, high = nested(find, look)
    assert low == {("long",)}
    assert medium == {("long",), ("four",), ("longer",)}
    assert high == medium | {("short",), ("alone",)}


def test_agents_that_never_end_are_reported_as_info(
    runtime: Runtime, clickhouse: ClickHouse, org: Org
) -> None:
    stopped = ["10:00:00"] * 40
    ingest(clickhouse, org.id, stops("silent", stopped))
    ingest(clickhouse, org.id, stops("dying", stopped))
    # Another organization's agent of the same name.
    ingest(clickhouse, make_org(runtime).id, stops("silent", stopped, ended=True))
    # Long before the window.
    ingest(clickhouse, org.id, stops("dying", ["00:00:01"], ended=True))
    look = look_at(clickhouse, org.id, Window(at("05:00:00"), at("12:00:00")))
    found = found_by(find, look)
    assert {key[0]: one.severity for key, one in found.items()} == {
        "silent": "info",
        "dying": "critical",
    }
