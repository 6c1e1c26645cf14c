"""The recorded sessions, with every event stored twice and the copies in another order."""

import json
import random

import pytest

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.ids import new_id
from shared.reading.sessions import evaluation_request, event_stream, facts
from shared.reading.sessions.listing import ListedSession, page
from shared.reading.sessions.selection import SessionFilters
from tests.shared.reading.sessions.expected import sessions_of
from tests.support.airline import Airline
from tests.support.events import Stored, by_session, store_events


@pytest.fixture(scope="module")
def airline_org() -> str:
    return str(new_id())


@pytest.fixture(scope="module")
def stored(clickhouse: ClickHouse, airline_org: str, airline: Airline) -> list[Stored]:
    """All written rows, including copies."""
    rows = store_events(clickhouse, airline_org, airline.lines)
    copies = list(airline.lines)
    random.Random(7).shuffle(copies)
    for start in range(0, len(copies), 500):
        rows += store_events(clickhouse, airline_org, copies[start : start + 500])
    return rows


def all_pages(clickhouse: ClickHouse, org_id: str, limit: int) -> list[ListedSession]:
    found: list[ListedSession] = []
    cursor: str | None = None
    while True:
        shown = page(clickhouse, org_id, SessionFilters(), limit=limit, cursor=cursor)
        found += shown.rows
        cursor = shown.next_cursor
        if cursor is None:
            return found
        assert len(shown.rows) == limit


def test_pages_hold_every_session_once_with_its_exact_counts(
    clickhouse: ClickHouse, airline_org: str, stored: list[Stored]
) -> None:
    wanted = sessions_of(stored)
    assert len(wanted) == 200
    assert all_pages(clickhouse, airline_org, 17) == wanted


@pytest.mark.usefixtures("stored")
def test_a_last_page_that_is_full_has_no_cursor(clickhouse: ClickHouse, airline_org: str) -> None:
    assert len(all_pages(clickhouse, airline_org, 200)) == 200


@pytest.mark.usefixtures("stored")
def test_sessions_that_the_labels_call_ended_have_an_end(
    clickhouse: ClickHouse, airline_org: str, airline: Airline
) -> None:
    found = facts.fetch(clickhouse, airline_org, list(airline.labels))
    ended = {session_id for session_id, row in found.items() if row.ended_at is not None}
    assert ended == {name for name, label in airline.labels.items() if label["ended"]}


def test_the_export_of_every_session_is_what_was_sent_in_order(
    clickhouse: ClickHouse, airline_org: str, stored: list[Stored]
) -> None:
    for name, events in by_session(stored).items():
        found = facts.find(clickhouse, airline_org, name)
        assert found is not None
        lines = list(event_stream.export(clickhouse, airline_org, found))
        assert len(lines) == len(events)
        for line, item in zip(lines, events, strict=True):
            assert line.endswith(b',"payload":' + item.line + b"}\n")
            assert json.loads(line)["id"] == item.event_id


@pytest.mark.usefixtures("stored")
def test_the_request_holds_the_events_of_the_export(
    clickhouse: ClickHouse, airline_org: str, airline: Airline
) -> None:
    for name in list(airline.labels)[:20]:
        found = facts.find(clickhouse, airline_org, name)
        assert found is not None
        lines = list(event_stream.export(clickhouse, airline_org, found))
        body = evaluation_request.build(clickhouse, airline_org, name)
        assert body is not None
        assert json.loads(body)["events"] == [json.loads(line) for line in lines]
