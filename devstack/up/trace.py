"""One trace of the demonstration that comes as OpenTelemetry data, as exporters send it."""

import secrets
import time
from dataclasses import dataclass

from devstack.up.api import Api, Row

_PATH = "/v1/traces"
_WAITING_SECONDS = 10.0
_POLL_SECONDS = 0.1
_MS = 1_000_000

EXPECTED_EVENTS = [
    "agent_start",
    "model_request",
    "model_response",
    "tool_use",
    "tool_result",
    "agent_end",
]


@dataclass(frozen=True)
class Trace:
    """The session of the trace, the number of its spans, and the types of its stored events."""

    session_id: str
    spans: int
    event_types: list[str]


def send_trace(api: Api) -> Trace:
    """Sends a trace, children before their root in two requests, and waits for its events."""
    session_id = f"demo-otlp-{secrets.token_hex(3)}"
    children, root = _requests(session_id, time.time_ns() - 5_000 * _MS)
    for spans in (children, [root]):
        api.send("POST", _PATH, _request(spans))
    deadline = time.monotonic() + _WAITING_SECONDS
    while True:
        events = list(api.rows("events", [session_id], len(EXPECTED_EVENTS)))
        if len(events) >= len(EXPECTED_EVENTS) or time.monotonic() > deadline:
            types = [event["event_type"] for event in reversed(events)]
            return Trace(session_id, len(children) + 1, types)
        time.sleep(_POLL_SECONDS)


def _requests(session_id: str, start_ns: int) -> tuple[list[Row], Row]:
    trace_id, root_id = secrets.token_hex(16), secrets.token_hex(8)
    model = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "claude-sonnet-4-5",
        "gen_ai.usage.input_tokens": 420,
        "gen_ai.usage.output_tokens": 36,
    }
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_weather",
        "gen_ai.tool.call.arguments": '{"city":"Oslo"}',
        "gen_ai.tool.call.result": '{"sky":"clear"}',
    }
    agent = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "weather",
        "gen_ai.conversation.id": session_id,
    }
    children = [
        _span(trace_id, secrets.token_hex(8), model, start_ns + 10 * _MS, 900, root_id),
        _span(trace_id, secrets.token_hex(8), tool, start_ns + 1_000 * _MS, 250, root_id),
    ]
    return children, _span(trace_id, root_id, agent, start_ns, 1_400)


def _span(
    trace_id: str, span_id: str, attributes: Row, start_ns: int, ms: int, parent_id: str = ""
) -> Row:
    return {
        "traceId": trace_id,
        "spanId": span_id,
        "parentSpanId": parent_id,
        "name": attributes["gen_ai.operation.name"],
        "startTimeUnixNano": str(start_ns),
        "endTimeUnixNano": str(start_ns + ms * _MS),
        "attributes": _pairs(attributes),
    }


def _pairs(attributes: Row) -> list[Row]:
    return [
        {
            "key": key,
            "value": {"intValue": value} if isinstance(value, int) else {"stringValue": value},
        }
        for key, value in attributes.items()
    ]


def _request(spans: list[Row]) -> Row:
    resource = {"attributes": _pairs({"service.name": "weather-service"})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]}
