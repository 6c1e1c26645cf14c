"""Any event that matches."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from shared.watch.alerts.evaluation.triggers.batch import evaluate
from shared.watch.alerts.evaluation.triggers.interface import RuleContext, RuleReading
from shared.watch.alerts.specs import PerEvent
from tests.shared.watch.alerts.evaluation.triggers.conftest import NOON, reading_of, rule
from tests.support.events import event, store_events


def store(context: RuleContext, *lines: bytes) -> None:
    store_events(context.runtime.clickhouse, context.org_id, lines)


def matches(context: RuleContext, says: str | None = None, **moments: datetime) -> float | None:
    spec = PerEvent(event_type="error", lookback_secs=60, message_contains=says)
    return reading_of(context, spec, **moments).value


def test_an_outage_of_the_evaluation_skips_no_event(context: RuleContext) -> None:
    lines = [event("s", at, "error") for at in ("11:29:59.999999", "11:30:00", "11:59:59.999999")]
    store(context, *lines, event("s", "12:00:00", "error"))
    assert matches(context) == 1
    assert matches(context, since=NOON - timedelta(minutes=30)) == 2
    assert matches(context, since=NOON - timedelta(seconds=1)) == 1


def test_the_newest_events_that_match_are_shown(context: RuleContext) -> None:
    lines = [event(f"s{number}", f"11:59:{number + 10}", "error") for number in range(12)]
    stored = store_events(context.runtime.clickhouse, context.org_id, lines)
    reading = reading_of(context, PerEvent(event_type="error", lookback_secs=60))
    assert reading.evidence["event_ids"] == [one.event_id for one in stored[:1:-1]]
    assert reading.evidence["session_ids"] == [f"s{number}" for number in range(11, 1, -1)]
    assert reading.summary == "12 events with event_type 'error' in the last 60 s"


def test_a_late_look_names_its_real_window(context: RuleContext) -> None:
    store(context, event("s", "11:59:30", "error"))
    late = rule(PerEvent(event_type="error", lookback_secs=60), since=NOON - timedelta(minutes=2))
    outcome = evaluate(context, [replace(late, is_behind=True)])[late.alert_id]
    assert isinstance(outcome, RuleReading)
    told = "1 event with event_type 'error' in the 120 s before 2026-11-02T12:00:00"
    assert outcome.summary.startswith(told)


@pytest.mark.parametrize(
    ("fields", "says", "is_found"),
    [
        ({"message": "Connection RESET by peer"}, "reset BY", True),
        ({"message": "Übergröße"}, "ÜBERGRÖ", True),
        ({"message": 'a "quoted" path C:\\tmp'}, '"Quoted" path c:\\t', True),
        ({"message": "50% off_"}, "%", True),
        ({"message": "50 off"}, "%", False),
        ({"message": ["not", "a text"]}, '["not","a', True),
        ({"error": "timed out"}, "Timed", True),
        ({"error": {"code": 7, "message": "timed out"}}, "timed", True),
        ({"summary": "gave up"}, "gave", True),
        ({"output": {"error": "bad seat"}}, "seat", True),
        ({"output": ["bad seat"]}, "seat", False),
        ({"output": "bad seat", "tool_name": "seat", "traceback": "seat"}, "seat", False),
        ({"message": "one", "error": "two"}, "one\ntwo", False),
        ({"message": None, "error": False}, "null", False),
        ({}, "message", False),
    ],
)
def test_a_message_is_what_a_person_would_call_so(
    context: RuleContext, fields: dict[str, Any], says: str, is_found: bool
) -> None:
    store(context, event("s", "11:59:30", "error", **fields))
    assert matches(context, says) == is_found


def test_a_payload_that_cannot_be_taken_apart_is_searched_whole(context: RuleContext) -> None:
    line = event("s", "11:59:30", "error", message="far too much", cost=0)
    store(context, line.replace(b'"cost": 0', b'"cost": 1e400'))
    assert matches(context, "TOO much") == 1
    assert matches(context, "too little") == 0


def test_a_message_counts_as_its_first_copy_says_it(context: RuleContext) -> None:
    """A key that was redacted between two copies makes their payloads differ."""
    line = event("s", "11:59:30", "error", message="the card 4242 was refused")
    [first] = store_events(context.runtime.clickhouse, context.org_id, [line])
    fields = json.loads(line)
    again = json.dumps({**fields, "message": "[redacted]"})
    columns = {
        "org_id": context.org_id,
        "id": first.event_id,
        "session_id": first.session_id,
        "agent_id": first.agent_id,
        "event_type": first.event_type,
        "environment": first.environment,
        "ts": first.ts,
        "arrival": first.arrival + 1,
        "payload": again,
        "summary": "",
        "is_error": True,
    }
    context.runtime.clickhouse.insert("events", {name: [one] for name, one in columns.items()})
    assert matches(context, "[redacted]") == 0
    assert matches(context, "4242") == 1
