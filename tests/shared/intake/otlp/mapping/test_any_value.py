"""Values of every type, wherever they come, raise nothing and change nothing but their event."""

import random
from typing import Any

import msgspec
import pytest

from shared.intake.ingest.decode import decode_events
from shared.intake.otlp.mapping import (
    Assignment,
    Event,
    Role,
    environment_of,
    has_content,
    kind_of,
    log_evaluations,
    log_events,
    own_agent,
    real_span,
    same_thing,
    session_name,
    span_evaluations,
    span_events,
    unmapped,
)
from shared.intake.otlp.mapping.dimension_tables import DIMENSIONS, OF_RESOURCES
from shared.intake.otlp.mapping.tables import (
    AGENT,
    CALLER,
    ENVIRONMENT,
    EVALUATION_FIELDS,
    EXCEPTION_FIELDS,
    FIELDS,
    KIND_COLUMNS,
    KIND_SIGNS,
    PENDING_PARENT,
    PENDING_TYPE,
    ROLE_FIELDS,
    SESSION,
)
from shared.intake.otlp.mapping.vendors import VENDORS
from shared.intake.otlp.records import LogRecord, Resource, Span, SpanEvent
from tests.support.otlp_spans import LIMIT, ORG, SCOPE, START_NS, log, span

OF_DIMENSIONS = [
    name.partition("{")[0]
    for table in (DIMENSIONS, *(vendor.dimensions for vendor in VENDORS))
    for names in table.values()
    for name in names
]
NAMES = sorted(
    {
        part.partition("{")[0].partition("[")[0]
        for names in (SESSION, AGENT, CALLER, ENVIRONMENT, *FIELDS.values(), OF_DIMENSIONS)
        for name in names
        for part in name.split(" + ")
    }
    | {*KIND_COLUMNS, *(key for key, _, _ in KIND_SIGNS), PENDING_TYPE, PENDING_PARENT}
)
EVENT_NAMES = [
    *("exception", "gen_ai.evaluation.result", "gen_ai.user.message", "gen_ai.choice"),
    *("gen_ai.content.prompt", "gen_ai.client.inference.operation.details", "other"),
]
EVENT_ATTRIBUTES = [
    *EXCEPTION_FIELDS.values(),
    *EVALUATION_FIELDS.values(),
    *("content", "role", "tool_calls", "message", "id", "gen_ai.event.content", "gen_ai.prompt"),
    *("gen_ai.input.messages", "gen_ai.output.messages", "error.type"),
]
LOG_ATTRIBUTES = sorted(
    {
        key
        for vendor in VENDORS
        for names in vendor.fields.values()
        for name in names
        for key in name.split(" + ")
    }
    | {"event.name", "event.kind", "success", "decision", *EVENT_ATTRIBUTES, *OF_DIMENSIONS}
)
OF_RESOURCE = [*SESSION, *ENVIRONMENT, "service.name", *OF_DIMENSIONS, *OF_RESOURCES]
MEMBERS = [
    *("role", "content", "parts", "type", "text", "message", "messages", "choices", "name"),
    *("tool_calls", "function", "id", "arguments", "kwargs", "data", "lc", "finish_reason"),
    *("generation_info", "response_metadata", "toolCallId", "input", "output", "system"),
    *("generations", "candidates", "additional_kwargs", "functionCall", "tool_call", "response"),
]
TEXTS = [
    *("", " ", "a", "assistant", "user", "tool", "text", "tool_call", "tool_use", "reasoning"),
    *("human", "ai", "18", "-1", "1e999", "nan", "{", "[", '"', "[[", "null", "\x00\u2028€😀"),
    *("pending_span", "chat", "invoke_agent", "execute_tool", "codex.x", "claude_code.x"),
]

TAILS = ["", ".role", ".content", ".message.role", ".message.content", ".0", ".tool_calls.1.name"]


def value(chance: random.Random, depth: int = 0) -> Any:
    kind = chance.randrange(10 if depth < 4 else 7)
    if kind < 3:
        return chance.choice(TEXTS)
    if kind < 7:
        return chance.choice([None, True, False, 0, 7, -(2**63), 2**63 - 1, 0.5, -0.0, 1e308])
    if kind == 7:
        return [value(chance, depth + 1) for _ in range(chance.randrange(4))]
    made = {chance.choice(MEMBERS): value(chance, depth + 1) for _ in range(chance.randrange(5))}
    return msgspec.json.encode(made).decode() if kind == 9 else made


def attributes(chance: random.Random, names: list[str]) -> dict[str, Any]:
    made = {}
    for _ in range(chance.randrange(12)):
        name = chance.choice(names)
        if name.endswith(".N"):
            name = f"{name[:-1]}{chance.randrange(3)}{chance.choice(TAILS)}"
        made[name] = value(chance)
    return made


def generated_span(chance: random.Random) -> Span:
    return span(
        attributes(chance, NAMES),
        name=chance.choice([*TEXTS, "claude_code.tool"]),
        kind=chance.randrange(-1, 8),
        parent_id=chance.choice(["", "0c" * 8]),
        end_ns=chance.choice([0, START_NS, 2**64 - 1]),
        status_code=chance.randrange(-1, 5),
        events=[
            SpanEvent(
                chance.choice(EVENT_NAMES),
                chance.choice([0, START_NS, 2**64 - 1]),
                attributes(chance, EVENT_ATTRIBUTES),
            )
            for _ in range(chance.randrange(3))
        ],
    )


def generated_log(chance: random.Random) -> LogRecord:
    return log(
        attributes(chance, LOG_ATTRIBUTES),
        event_name=chance.choice(["", *EVENT_NAMES]),
        body=chance.choice([value(chance), "codex.tool_result", "claude_code.tool_decision"]),
        severity=chance.choice(TEXTS),
    )


def check(events: list[Event]) -> None:
    """Checks that the events could have come by POST /events, except for times far ahead."""
    for event in events:
        payload = msgspec.json.decode(event.payload)
        assert msgspec.json.encode(payload, order="deterministic") == event.payload
        payload["timestamp"] = "2026-11-22T08:26:40.000000Z"
        decoded = decode_events([msgspec.json.encode(payload)], ORG, LIMIT)
        assert decoded.errors == []
        assert decoded.batch.agent_ids == [event.agent_id]
        assert decoded.batch.environments == [event.environment]


@pytest.mark.parametrize("seed", range(300))
def test_any_span(seed: int) -> None:
    chance = random.Random(seed)
    sent = generated_span(chance)
    resource = Resource(attributes(chance, OF_RESOURCE))
    made = real_span(sent) or sent
    kind = kind_of(made)
    named = session_name(made, resource)
    agent = own_agent(made, kind) or "main"
    same_thing(made, kind)
    has_content(made)
    assert all(type(name) is str for name in unmapped(made))
    for role in ROLE_FIELDS:
        assignment = Assignment("a session" if named is None else named[1], agent, None, role)
        first = span_events(ORG, made, resource, SCOPE, assignment, LIMIT)
        assert first == span_events(ORG, made, resource, SCOPE, assignment, LIMIT)
        check(first)
        for row in span_evaluations(ORG, made, resource, assignment):
            assert row.environment == environment_of(made, resource)


@pytest.mark.parametrize("seed", range(200))
def test_any_log_record(seed: int) -> None:
    chance = random.Random(seed)
    made = generated_log(chance)
    resource = Resource(attributes(chance, OF_RESOURCE))
    session_name(made, resource)
    assignment = Assignment("a session", own_agent(made, "other") or "main")
    events = log_events(ORG, made, resource, SCOPE, assignment, LIMIT)
    assert events
    check(events)
    assert len(log_evaluations(ORG, made, resource, assignment)) <= 1


@pytest.mark.parametrize("role", ROLE_FIELDS)
def test_ten_thousand_attributes(role: Role) -> None:
    told = {f"llm.input_messages.{n}.message.tool_calls.{n}.id": "c" for n in range(5000)}
    told |= {f"gen_ai.prompt.{n}.content": "x" for n in range(5000)}
    assignment = Assignment("a session", "bot", None, role)
    check(span_events(ORG, span(told), Resource({}), SCOPE, assignment, LIMIT))
