"""Agent, environment and times of a session, for any order of arrival."""

import random

from shared.foundation.clickhouse import ClickHouse
from shared.reading.sessions.facts import fetch, find
from shared.reading.sessions.listing import page
from shared.reading.sessions.selection import SessionFilters
from tests.shared.reading.sessions.expected import sessions_of
from tests.support.events import event, store_events

SEVERAL_AGENTS = [
    event("s", "10:00:00", "human_input", agent_id="desk", environment="staging"),
    event("s", "10:00:01", "agent_start", agent_id="lead", input_tokens=3),
    event("s", "10:00:02", "agent_start", agent_id="helper", output_tokens=5),
    event("s", "10:00:03", "agent_end", agent_id="lead"),
    event("s", "10:00:03", "tool_result", agent_id="lead", error="no"),
    event("s", "10:00:04", "agent_end", agent_id="lead", outcome="again"),
    event("s", "10:00:05", "agent_end", agent_id="helper"),
]


def test_the_root_agent_is_the_first_that_started(clickhouse: ClickHouse, org_id: str) -> None:
    events = store_events(clickhouse, org_id, SEVERAL_AGENTS)
    found = find(clickhouse, org_id, "s")
    assert found is not None
    assert found == sessions_of(events)[0].facts
    assert (found.agent_id, found.environment) == ("lead", "staging")
    assert found.ended_at == events[5].ts


def test_without_agent_start_the_first_event_names_the_root(
    clickhouse: ClickHouse, org_id: str
) -> None:
    lines = [line for line in SEVERAL_AGENTS if b"agent_start" not in line]
    store_events(clickhouse, org_id, lines)
    found = find(clickhouse, org_id, "s")
    assert found is not None
    assert (found.agent_id, found.ended_at) == ("desk", None)


def test_every_order_of_arrival_gives_the_same_session(clickhouse: ClickHouse, org_id: str) -> None:
    # One event per moment: events of one moment would follow the order of arrival.
    lines = [line for line in SEVERAL_AGENTS if b"tool_result" not in line]
    rng = random.Random(3)
    stored = []
    for _ in range(3):
        rng.shuffle(lines)
        for line in lines:
            stored += store_events(clickhouse, org_id, [line, line])
    shown = page(clickhouse, org_id, SessionFilters(), limit=5, cursor=None)
    assert shown.rows == sessions_of(stored)
    assert shown.rows[0].totals.event_count == 6


def test_of_one_moment_the_event_stored_first_is_the_first(
    clickhouse: ClickHouse, org_id: str
) -> None:
    lines = [event("s", "10:00:00", agent_id=f"agent-{n}", environment=f"e-{n}") for n in range(9)]
    random.Random(5).shuffle(lines)
    events = store_events(clickhouse, org_id, lines)
    copies = store_events(clickhouse, org_id, reversed(lines))
    shown = page(clickhouse, org_id, SessionFilters(), limit=5, cursor=None)
    assert shown.rows == sessions_of(events + copies)
    assert shown.rows[0].totals.first_event_id == events[0].event_id


def test_equal_session_ids_of_two_organizations_stay_apart(
    clickhouse: ClickHouse, org_id: str
) -> None:
    other = f"{org_id}-other"
    events = store_events(clickhouse, org_id, [event("s", "10:00:00", environment="mine")])
    store_events(clickhouse, other, [event("s", "09:00:00", "error", environment="theirs")])
    shown = page(clickhouse, org_id, SessionFilters(), limit=5, cursor=None)
    assert shown.rows == sessions_of(events)


def test_a_session_without_events_does_not_exist(clickhouse: ClickHouse, org_id: str) -> None:
    store_events(clickhouse, org_id, [event("s", "10:00:00")])
    assert find(clickhouse, org_id, "t") is None
    assert fetch(clickhouse, org_id, []) == {}
