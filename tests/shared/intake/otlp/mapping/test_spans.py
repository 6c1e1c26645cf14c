"""The events of a span: their types, times, ids, errors, and what `otel` keeps."""

from typing import Any

import msgspec
import pytest

from shared.intake.ingest.decode import decode_events
from shared.intake.otlp.mapping import Assignment, Role, real_span, span_events
from shared.intake.otlp.records import Link, Resource
from tests.support.otlp_spans import (
    END_NS,
    LIMIT,
    ORG,
    PARENT_ID,
    RESOURCE,
    SCOPE,
    SPAN_ID,
    START_NS,
    TRACE_ID,
    assignment_of,
    events_of,
    payloads_of,
    span,
    span_event,
)

START_US, END_US = START_NS // 1000, END_NS // 1000
START, END = "2026-11-22T08:26:40.000000Z", "2026-11-22T08:26:41.501000Z"
ROLES: dict[Role, list[str]] = {
    "agent": ["agent_start", "agent_end"],
    "model": ["model_request", "model_response"],
    "tool": ["tool_use", "tool_result"],
    "retrieval": ["tool_use", "tool_result"],
    "guardrail": ["hook_triggered", "hook_completed"],
    "span": ["span"],
}
EXCEPTION: dict[str, Any] = {
    "exception__type": "ValueError",
    "exception__message": "no city",
    "exception__stacktrace": "Traceback …",
    "exception__escaped": "False",
}


@pytest.mark.parametrize("role", ROLES)
def test_a_span_has_an_event_at_its_start_and_one_at_its_end(role: Role) -> None:
    events = events_of(span(), role)
    assert [event.event_type for event in events] == ROLES[role]
    assert [event.ts for event in events] == [START_US, END_US][: len(events)]
    payloads = [msgspec.json.decode(event.payload) for event in events]
    assert [payload["timestamp"] for payload in payloads] == [START, END][: len(events)]
    assert payloads[-1]["duration_ms"] == 1500
    assert not any("duration_ms" in payload for payload in payloads[:-1])
    for payload, event in zip(payloads, events, strict=True):
        assert payload["type"] == event.event_type
        assert payload["session_id"] == event.session_id == "a session"
        assert payload["agent_id"] == event.agent_id
        assert payload["environment"] == event.environment == "default"
        assert payload["source"] == "otlp"


@pytest.mark.parametrize("role", ROLES)
def test_payloads_are_events_as_a_collector_sends_them(role: Role) -> None:
    events = events_of(span({"input.value": '{"b": [1], "a": null}'}), role)
    decoded = decode_events([event.payload for event in events], ORG, LIMIT)
    assert decoded.errors == []
    batch = decoded.batch
    assert batch.ts == [event.ts for event in events]
    assert batch.session_ids == [event.session_id for event in events]
    assert batch.agent_ids == [event.agent_id for event in events]
    assert batch.event_types == [event.event_type for event in events]
    assert batch.environments == [event.environment for event in events]
    for event in events:
        assert list(msgspec.json.decode(event.payload)) == sorted(
            msgspec.json.decode(event.payload)
        )


def test_where_an_event_comes_from() -> None:
    start, end = payloads_of(span(), "tool")
    assert start["otel"] == {
        "trace_id": TRACE_ID,
        "span_id": SPAN_ID,
        "parent_span_id": PARENT_ID,
        "name": "a span",
        "kind": "client",
        "service": "shop",
        "scope": "an.instrumentation",
    }
    assert end["otel"].items() >= start["otel"].items()
    root = span(parent_id="", kind=9)
    assert payloads_of(root, "span")[0]["otel"]["parent_span_id"] is None
    assert payloads_of(root, "span")[0]["otel"]["kind"] == "9"
    nameless = events_of(span(), "span", Resource({}))[0]
    assert msgspec.json.decode(nameless.payload)["otel"]["service"] is None


def test_the_last_event_keeps_what_no_field_has() -> None:
    told = {
        "http.method": "POST",
        "session.id": "s",
        "agent.name": "a",
        "deployment.environment": "e",
        "metadata": '{"thread_id": "s", "step": 1}',
        "openinference.span.kind": "TOOL",
        "logfire.json_schema": "{}",
        "tool.name": "search",
        "llm.model_name": "not of a tool",
    }
    link = Link("0e" * 16, "0f" * 8, {"why": "retry"})
    event = span_event("cache miss", key="k")
    otel = payloads_of(span(told, links=[link], events=[event]))[1]["otel"]
    assert otel["attributes"] == {
        key: told[key]
        for key in ("http.method", "metadata", "openinference.span.kind", "llm.model_name")
    }
    assert otel["resource"] == {"service.name": "shop"}
    assert otel["status"] == {"code": "unset"}
    assert otel["links"] == [
        {"trace_id": "0e" * 16, "span_id": "0f" * 8, "attributes": {"why": "retry"}}
    ]
    assert otel["events"] == [
        {
            "name": "cache miss",
            "timestamp": "2026-11-22T08:26:40.001000Z",
            "attributes": {"key": "k"},
        }
    ]


def test_sums_of_tokens_stay_attributes_of_an_agent_span() -> None:
    told = {"gen_ai.usage.input_tokens": 42}
    end = payloads_of(span(told), "agent")[1]
    assert "input_tokens" not in end
    assert end["otel"]["attributes"] == told
    inner = payloads_of(span(told | {"gen_ai.operation.name": "chat"}), "span")[0]
    assert "input_tokens" not in inner
    assert inner["span_kind"] == "chat"


def test_the_fields_of_an_agent() -> None:
    above = Assignment("a session", "bot", "boss", "agent")
    events = span_events(ORG, span(status_code=2), RESOURCE, SCOPE, above, LIMIT)
    start, end = (msgspec.json.decode(event.payload) for event in events)
    assert start["parent_id"] == "boss"
    assert end["outcome"] == "failed"
    start, end = payloads_of(span(), "agent")
    assert not {"parent_id", "goal", "user_id"} & start.keys()
    assert end["outcome"] == "success"
    assert "summary" not in end


def test_a_goal_is_the_last_text_of_the_user() -> None:
    told = {
        "input.value": '{"messages": [["user", "first"], ["ai", "a"], ["user", "last"]]}',
        "output.value": '{"messages": [{"type": "ai", "data": {"content": "done"}}]}',
    }
    start, end = payloads_of(span(told), "agent")
    assert (start["goal"], end["summary"]) == ("last", "done")
    told = {"input.value": '{"city": "Lisbon"}', "output.value": "[1]"}
    start, end = payloads_of(span(told), "agent")
    assert (start["goal"], end["summary"]) == ('{"city": "Lisbon"}', "[1]")
    told = {"ai.prompt": '{"system": "x", "prompt": "Hi"}', "ai.response.text": "Hello"}
    start, end = payloads_of(span(told), "agent")
    assert (start["goal"], end["summary"]) == ("Hi", "Hello")


@pytest.mark.parametrize(("role", "kind"), [("tool", "tool"), ("retrieval", "retrieval")])
def test_the_fields_of_a_call(role: Role, kind: str) -> None:
    use, result = payloads_of(span({"tool.name": "search"}), role)
    assert use["tool_kind"] == kind
    assert "tool_kind" not in result
    assert use["tool_name"] == result["tool_name"] == "search"


def test_the_fields_of_a_guardrail() -> None:
    told = {"input.value": "a", "output.value": "b"}
    triggered, completed = payloads_of(span(told), "guardrail")
    names = ("hook_name", "hook_id", "trigger_event", "input")
    assert [triggered[name] for name in names] == ["a span", SPAN_ID, "guardrail", "a"]
    names = ("hook_name", "hook_id", "outcome", "output")
    assert [completed[name] for name in names] == ["a span", SPAN_ID, "success", "b"]
    assert payloads_of(span(status_code=2), "guardrail")[1]["outcome"] == "failed"


def test_the_fields_of_another_span() -> None:
    told = {"input.value": "a", "output.value": "b", "openinference.span.kind": "CHAIN"}
    event = payloads_of(span(told))[0]
    names = ("name", "span_kind", "input", "output")
    assert [event[name] for name in names] == ["a span", "CHAIN", "a", "b"]
    assert payloads_of(span())[0]["span_kind"] == "client"


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    ("message", "exceptions", "error_type", "error", "kind"),
    [
        ("refused", [EXCEPTION], "timeout", "refused", "timeout"),
        ("", [{"exception__type": "First"}, EXCEPTION], None, "ValueError: no city", "ValueError"),
        ("", [{"exception__type": "ValueError"}], None, "ValueError", "ValueError"),
        ("", [{"exception__message": "no city"}], "timeout", "no city", "timeout"),
        ("", [], "timeout", "timeout", "timeout"),
        ("", [], None, "error", None),
    ],
)
def test_an_error(
    role: Role,
    message: str,
    exceptions: list[dict[str, Any]],
    error_type: str | None,
    error: str,
    kind: str | None,
) -> None:
    failed = span(
        {} if error_type is None else {"error.type": error_type},
        status_code=2,
        status_message=message,
        events=[span_event("exception", **exception) for exception in exceptions],
    )
    *starts, end = payloads_of(failed, role)
    assert end["error"] == error
    assert end.get("error_type") == kind
    assert end.get("traceback") == ("Traceback …" if EXCEPTION in exceptions else None)
    assert not any("error" in start for start in starts)
    assert len(starts) == len(ROLES[role]) - 1
    assert "error.type" not in end["otel"]["attributes"]
    status = {"code": "error", "message": message} if message else {"code": "error"}
    assert end["otel"]["status"] == status


def test_the_exception_of_an_error_is_not_repeated() -> None:
    earlier = span_event("exception", exception__type="First")
    failed = span(status_code=2, events=[earlier, span_event("exception", **EXCEPTION)])
    events = payloads_of(failed, "tool")[1]["otel"]["events"]
    assert [event["attributes"] for event in events] == [
        {"exception.type": "First"},
        {"exception.escaped": "False"},
    ]


@pytest.mark.parametrize("role", ROLES)
def test_an_exception_of_a_span_that_went_well_is_an_error_event(role: Role) -> None:
    at = START_NS + 250_000_000
    fine = span({"error.type": "x"}, events=[span_event("exception", at, **EXCEPTION)])
    events = events_of(fine, role)
    error = next(event for event in events if event.event_type == "error")
    assert events[0].event_type == ROLES[role][0]
    assert error.ts == at // 1000
    payload = msgspec.json.decode(error.payload)
    names = ("error_type", "message", "traceback")
    assert [payload[name] for name in names] == ["ValueError", "no city", "Traceback …"]
    [last] = [event for event in events if event.event_type == ROLES[role][-1]]
    end = msgspec.json.decode(last.payload)
    assert not {"error", "error_type", "traceback"} & end.keys()
    assert end["otel"]["attributes"] == {"error.type": "x"}
    assert end["otel"]["events"][0]["attributes"] == {"exception.escaped": "False"}


def test_an_exception_without_a_time_happened_at_the_end() -> None:
    events = events_of(span(events=[span_event("exception", 0)]), "tool")
    assert [event.ts for event in events] == [START_US, END_US, END_US]


@pytest.mark.parametrize(
    ("start_ns", "end_ns", "end_us", "ms"),
    [
        (START_NS, START_NS + 999_999, START_US + 1000, 0),
        (START_NS, START_NS + 1_999_999, START_US + 2000, 1),
        (START_NS, START_NS, START_US, 0),
        (START_NS, START_NS - 1, START_US, 0),
        (START_NS, 0, START_US, 0),
        (START_NS, START_NS + 2**63, (START_NS + 2**63) // 1000, 2**32 - 1),
    ],
)
def test_times(start_ns: int, end_ns: int, end_us: int, ms: int) -> None:
    timed = span(start_ns=start_ns, end_ns=end_ns)
    events = events_of(timed, "tool")
    assert [event.ts for event in events] == [START_US, end_us]
    start, end = payloads_of(timed, "tool")
    assert end["duration_ms"] == ms
    clock = "end_before_start" if end_ns < start_ns else None
    assert [start["otel"].get("clock"), end["otel"].get("clock")] == [clock, clock]


def ids(**changes: Any) -> list[int]:
    events = [span_event("exception"), span_event("exception")]
    return [event.id for event in events_of(span(events=events, **changes), "tool")]


def test_ids_depend_on_the_span_and_the_place_in_it_only() -> None:
    same = ids()
    assert len(set(same)) == 4
    assert all(0 <= event_id < 2**53 for event_id in same)
    changed = span({"a": 1}, name="b", parent_id="", start_ns=START_NS + 1)
    assert [event.id for event in events_of(changed, "model")] == [same[0], same[-1]]
    assert events_of(changed, "span")[0].id == same[0]
    assert not set(same) & set(ids(span_id="01" * 8))
    assert not set(same) & set(ids(trace_id="01" * 16))
    foreign = span_events("other", span(), RESOURCE, SCOPE, assignment_of(span(), "tool"), LIMIT)
    assert not set(same) & {event.id for event in foreign}


@pytest.mark.parametrize("role", ROLES)
def test_a_pending_span_is_the_start_of_the_real_one(role: Role) -> None:
    told = {"logfire.span_type": "pending_span", "logfire.pending_parent_id": PARENT_ID}
    announced = real_span(span(told, span_id="01" * 8, parent_id=SPAN_ID, end_ns=START_NS))
    assert announced is not None
    where = Assignment("a session", "bot", None, role, pending=True)
    [start] = span_events(ORG, announced, RESOURCE, SCOPE, where, LIMIT)
    finished = events_of(span(), role)[0]
    assert start.pending
    assert not finished.pending
    assert (start.id, start.ts, start.event_type) == (finished.id, finished.ts, ROLES[role][0])
    payload = msgspec.json.decode(start.payload)
    assert payload["otel"]["span_id"] == SPAN_ID
    assert payload["otel"]["parent_span_id"] == PARENT_ID
    assert "duration_ms" not in payload
