"""A session with everything that the session page shows: nested agents, a failure, open calls."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

# A number that JSON libraries would write otherwise, and text that must stay text.
RAW_INPUT = '{"from": "JFK", "price": 1.50, "note": "<img src=x onerror=alert(1)>"}'
DESK, SEARCH = "desk", "search"


def trip(session_id: str, begun: datetime, *, ended: bool = True) -> list[bytes]:
    """Returns the events as sent; without an end, two calls stay open."""
    ask = {"role": "user", "content": "Book the cheapest trip."}
    answered = {"role": "assistant", "content": "Which day?"}
    more = {"role": "user", "content": "On Friday, please."}
    steps: list[tuple[float, dict[str, Any]]] = [
        (0, {"type": "agent_start", "agent_id": DESK, "goal": "book a round trip"}),
        (1, {**_model("r1"), "type": "model_request", "messages": [ask], "system": "Be brief."}),
        (
            2,
            {
                **_model("r1"),
                "type": "model_response",
                "content": "Which day?",
                "input_tokens": 1200,
                "output_tokens": 40,
                "duration_ms": 990,
            },
        ),
        (3, {"type": "human_wait", "agent_id": DESK, "input_id": "i1", "prompt": "Which day?"}),
        (
            50,
            {
                "type": "human_input",
                "agent_id": DESK,
                "input_id": "i1",
                "response": "On Friday, please.",
            },
        ),
        (51, {**_model("r2"), "type": "model_request", "messages": [ask, answered, more]}),
        (
            53,
            {
                **_model("r2"),
                "type": "model_response",
                "stop_reason": "tool_use",
                "input_tokens": 1300,
                "output_tokens": 20,
                "duration_ms": 1990,
            },
        ),
        (
            54,
            {"type": "agent_start", "agent_id": SEARCH, "parent_id": DESK, "goal": "find flights"},
        ),
        (
            56,
            {
                **_tool("find_flights", "c1"),
                "type": "tool_result",
                "agent_id": SEARCH,
                "error": "no seat left",
                "duration_ms": 1000,
            },
        ),
        (
            57,
            {
                "type": "error",
                "agent_id": SEARCH,
                "error_type": "ToolError",
                "message": "no seat left",
            },
        ),
        (
            58,
            {
                **_tool("find_flights", "c2"),
                "type": "tool_use",
                "agent_id": SEARCH,
                "input": {"from": "JFK"},
            },
        ),
        (59, {**_model("r3"), "type": "model_request", "messages": [ask]}),
    ]
    if ended:
        steps += [
            (
                60,
                {
                    **_tool("find_flights", "c2"),
                    "type": "tool_result",
                    "agent_id": SEARCH,
                    "output": '{"seats": 3, "needle": "in-the-payload"}',
                },
            ),
            (61, {"type": "agent_end", "agent_id": SEARCH, "outcome": "success"}),
            (
                62,
                {
                    **_model("r3"),
                    "type": "model_response",
                    "content": "Booked.",
                    "duration_ms": 2900,
                },
            ),
            (
                63,
                {"type": "agent_end", "agent_id": DESK, "outcome": "success", "summary": "booked"},
            ),
        ]
    lines = [
        (seconds, json.dumps(_envelope(session_id, begun, seconds) | event))
        for seconds, event in steps
    ]
    call = json.dumps(
        _envelope(session_id, begun, 55)
        | {**_tool("find_flights", "c1"), "type": "tool_use", "agent_id": SEARCH}
    )
    lines.append((55, f'{call[:-1]}, "input": {RAW_INPUT}}}'))
    return [line.encode() for _, line in sorted(lines)]


EVENTS = 17


def ago(seconds: float) -> datetime:
    """Returns the moment so many seconds before now."""
    return datetime.now(UTC) - timedelta(seconds=seconds)


def _model(request_id: str) -> dict[str, Any]:
    return {"agent_id": DESK, "model": "gpt-4o", "request_id": request_id}


def _tool(name: str, call_id: str) -> dict[str, Any]:
    return {"tool_name": name, "tool_call_id": call_id}


def _envelope(session_id: str, begun: datetime, seconds: float) -> dict[str, Any]:
    moment = begun + timedelta(seconds=seconds)
    return {
        "session_id": session_id,
        "timestamp": moment.isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "environment": "production",
    }
