"""GET /events/error_summary on the airline recording, counted one event at a time."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.reading.conftest import NEWEST, AirlineOrg
from tests.reading.latencies import Event

FROM = NEWEST - timedelta(hours=20)
TO = NEWEST - timedelta(hours=2)

# Parameters, and a test of the events that match.
CASES: list[tuple[dict[str, str], Any]] = [
    ({}, lambda event: event.at <= NEWEST),
    ({"environment": "staging,canary"}, lambda event: event.text("environment") != "production"),
    ({"event_type": "error"}, lambda event: event.type == "error"),
    ({"error_type": "ToolError"}, lambda event: event.text("error_type") == "ToolError"),
    (
        {"tool_name": "book_reservation"},
        lambda event: event.text("tool_name") == "book_reservation",
    ),
    (
        {"ts_from": FROM.isoformat(), "ts_to": TO.isoformat()},
        lambda event: FROM <= event.at < TO,
    ),
    ({"ts_from": FROM.isoformat()}, lambda event: event.at >= FROM),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_every_field_is_what_counting_finds(
    airline_org: AirlineOrg, client: FlaskClient, number: int
) -> None:
    given, holds = CASES[number]
    events = [Event.of_line(line) for line in airline_org.recording.lines]
    errored = [event for event in events if event.is_error and holds(event)]
    assert errored
    moments = [event.at for event in errored]
    from_ms = _ms(FROM if "ts_from" in given else min(moments))
    to_ms = _ms(TO) if "ts_to" in given else _ms(max(moments)) + 1
    bins = [0] * 24
    for moment in moments:
        bins[(_ms(moment) - from_ms) * 24 // (to_ms - from_ms)] += 1
    path = "/v1/events/error_summary"
    answer = client.get(path, query_string=given, headers=airline_org.headers)
    assert answer.get_json() == {
        "total": len(errored),
        "sessions": len({event.session for event in errored}),
        "agents": len({event.text("agent_id") for event in errored}),
        "last_ts": max(moments).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "bins": bins,
        "bounds": {"from_ms": from_ms, "to_ms": to_ms},
    }


@pytest.mark.parametrize("column", ["error_type", "tool_name", "agent_id"])
def test_groups_are_what_counting_finds(
    airline_org: AirlineOrg, client: FlaskClient, column: str
) -> None:
    events = [Event.of_line(line) for line in airline_org.recording.lines]
    groups: dict[str, list[Event]] = {}
    for event in events:
        if event.is_error:
            groups.setdefault(event.text(column), []).append(event)
    answer = client.get(f"/v1/events/error_summary?group_by={column}", headers=airline_org.headers)
    found = answer.get_json()["groups"]
    assert {row["key"] or "": row for row in found} == {
        key: {
            "key": key or None,
            "total": len(members),
            "sessions": len({event.session for event in members}),
            "last_ts": max(event.at for event in members).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        }
        for key, members in groups.items()
    }
    assert [row["total"] for row in found] == sorted((row["total"] for row in found), reverse=True)


def _ms(moment: datetime) -> int:
    return (moment - datetime.fromtimestamp(0, moment.tzinfo)) // timedelta(milliseconds=1)
