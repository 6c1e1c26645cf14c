"""Requests of OTLP in files."""

import json
from typing import Any

from shared.intake.otlp.mapping import Assignment, span_events
from shared.intake.otlp.wire.reading import JSON, Reading
from shared.intake.otlp.wire.signals import TRACES
from tests.support.transcripts import ORG, Told, lines_of, told

TRACE = "0123456789abcdef0123456789abcdef"
START = 1_763_456_400_000_000_000


def attributes(**values: str) -> list[dict[str, Any]]:
    return [
        {"key": key.replace("__", "."), "value": {"stringValue": value}}
        for key, value in values.items()
    ]


def span(number: int, parent: int = 0, trace: str = TRACE, **values: str) -> dict[str, Any]:
    return {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "",
        "name": f"span {number}",
        "startTimeUnixNano": str(START + number * 1_000_000),
        "endTimeUnixNano": str(START + number * 2_000_000),
        "attributes": attributes(**values),
    }


def request(*spans: dict[str, Any], **resource: str) -> dict[str, Any]:
    group = {
        "resource": {"attributes": attributes(service__name="shop", **resource)},
        "scopeSpans": [{"scope": {"name": "test"}, "spans": list(spans)}],
    }
    return {"resourceSpans": [group]}


def logs(*records: dict[str, Any]) -> dict[str, Any]:
    group = {"resource": {"attributes": attributes(service__name="shop")}}
    return {"resourceLogs": [{**group, "scopeLogs": [{"scope": {}, "logRecords": list(records)}]}]}


AGENT = span(1, gen_ai__operation__name="invoke_agent", gen_ai__agent__name="clerk")
MODEL = span(2, 1, gen_ai__operation__name="chat", session__id="visit")


def convert(*requests: dict[str, Any]) -> Told:
    return told(lines_of(*requests))


def test_children_and_logs_may_stand_before_their_parents() -> None:
    log = {"timeUnixNano": str(START), "traceId": TRACE, "spanId": f"{2:016x}", "body": {}}
    found = convert(logs(log), request(MODEL), request(AGENT))
    assert found.converted.lines == 3
    assert {(one["session_id"], one["agent_id"]) for one in found.events} == {("visit", "clerk")}
    assert sorted(found.types) == [
        "agent_end",
        "agent_start",
        "log",
        "model_request",
        "model_response",
    ]
    lines = {one["type"]: one["source"]["line"] for one in found.events}
    assert (lines["log"], lines["model_request"], lines["agent_start"]) == (1, 2, 3)


def test_a_document_is_one_line() -> None:
    whole = request(AGENT, MODEL)
    pretty = told(json.dumps(whole, indent=2).encode())
    flat = convert(whole)
    assert pretty.converted.batch.payloads == flat.converted.batch.payloads
    assert (pretty.converted.lines, pretty.events[0]["source"]["line"]) == (1, 1)


def test_ids_are_those_of_events_that_come_by_otlp() -> None:
    reading = Reading(TRACES, JSON, START)
    list(reading.steps(json.dumps(request(AGENT)).encode()))
    records = reading.records
    assignment = Assignment("any", "clerk", role="agent")
    live = span_events(
        ORG, records.spans[0], records.resources[0], records.scopes[0], assignment, 9999
    )
    assert convert(request(AGENT)).converted.batch.ids == [event.id for event in live]


def test_environments_of_records_count_before_that_of_the_import() -> None:
    named = request(AGENT, deployment__environment__name="default")
    other = span(3, trace="f" * 32, gen_ai__operation__name="chat")
    found = convert(named, request(other))
    by_line = {one["source"]["line"]: one["environment"] for one in found.events}
    assert by_line == {1: "default", 2: "upload"}
    assert found.converted.batch.environments == [one["environment"] for one in found.events]


def test_bad_records_are_reported_and_cost_no_good_one() -> None:
    spool = {"path": "/v1/traces", "content_type": "application/json"}
    found = convert(spool, request({**MODEL, "spanId": "12"}, AGENT), {"resourceSpans": 7})
    assert found.types == ["agent_start", "agent_end"]
    assert [(one.line, one.error) for one in found.converted.errors] == [
        (2, "1 of 2 spans rejected: span id is not 8 bytes (1)"),
        (3, "the body is not an OTLP request in JSON"),
    ]
    assert (found.converted.skipped, found.converted.ignored) == (2, 1)


def test_records_of_no_session_are_not_stored() -> None:
    lone = {"timeUnixNano": str(START), "body": {"stringValue": "x"}}
    assert convert(logs(lone), request(span(9))).events == []
    named = {**lone, "attributes": attributes(session__id="visit")}
    assert convert(logs(named)).events[0]["session_id"] == "visit"


def test_pending_spans_wait_for_the_finished_ones() -> None:
    pending = span(
        7,
        1,
        logfire__span_type="pending_span",
        logfire__pending_parent_id="0" * 16,
        gen_ai__operation__name="invoke_agent",
    )
    assert convert(request(pending)).events == []
    assert convert(request(pending), request(AGENT)).types == ["agent_start", "agent_end"]


def test_evaluations_come_with_their_events() -> None:
    values = {"gen_ai.evaluation.name": {"stringValue": "good"}}
    event = {
        "name": "gen_ai.evaluation.result",
        "timeUnixNano": str(START),
        "attributes": [{"key": key, "value": value} for key, value in values.items()],
    }
    found = convert(request({**AGENT, "events": [event]}))
    assert "evaluation_result" in found.types
    [row] = found.converted.evaluations
    assert (row.session_id, row.environment) == (TRACE, "upload")


def test_a_line_that_was_cut_is_held_back() -> None:
    text = lines_of(request(AGENT), request(MODEL))
    found = told(text[:-30])
    assert (found.converted.held_back, found.converted.skipped) == (1, 0)
    assert found.types == ["agent_start", "agent_end"]


def test_large_events_are_cut_to_the_limit() -> None:
    """Also those that are as large as the limit before they get their `source`."""
    for size in range(2**20 - 1200, 2**20 + 200, 100):
        large = span(1, gen_ai__operation__name="chat", note="x" * size)
        found = told(lines_of(request(large)), "p" * 300)
        assert len(found.events) == 2
        assert all(len(one) <= 2**20 for one in found.converted.batch.payloads)
