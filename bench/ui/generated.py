"""Generated sessions of any size: a root agent, its helpers, and their calls."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from random import Random

_TOOLS = ("search_flights", "get_reservation", "calculate", "book_reservation", "send_certificate")
_MODELS = ("gpt-4o", "gpt-4o-mini")
_HELPERS = 5


def session(
    session_id: str, count: int, payload_bytes: int = 300, begun: datetime | None = None
) -> list[bytes]:
    """Returns `count` events as sent, in the order of their times.

    The same arguments give the same events, except for the default of `begun`, two hours ago.
    """
    start = begun or datetime.now(UTC) - timedelta(hours=2)
    chance = Random(count)
    events = islice(_events(session_id, chance, payload_bytes), count - 1)
    lines, moment = [], start
    for event in events:
        moment += timedelta(milliseconds=chance.choice((1, 3, 10, 40)))
        lines.append(_line(event, session_id, moment))
    ended: dict[str, object] = {"type": "agent_end", "agent_id": "desk", "outcome": "success"}
    return [*lines, _line(ended, session_id, moment + timedelta(milliseconds=1))]


def _line(event: dict[str, object], session_id: str, moment: datetime) -> bytes:
    envelope = {
        "timestamp": moment.isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "session_id": session_id,
        "environment": "production",
    }
    return json.dumps(envelope | event).encode()


def _events(session_id: str, chance: Random, size: int) -> Iterator[dict[str, object]]:
    yield {"type": "agent_start", "agent_id": "desk", "goal": "plan a round trip"}
    helpers = [f"helper-{number}" for number in range(1, _HELPERS + 1)]
    for name in helpers:
        yield {"type": "agent_start", "agent_id": name, "parent_id": "desk", "goal": "help"}
    number = 0
    while True:
        number += 1
        agent = {"agent_id": chance.choice(["desk", *helpers])}
        model = {"model": chance.choice(_MODELS), "request_id": f"{session_id}-{number}"}
        text = "x" * size
        yield {
            "type": "model_request",
            **agent,
            **model,
            "messages": [{"role": "user", "content": text}],
        }
        tokens = {"input_tokens": 1000 + number % 5000, "output_tokens": 20 + number % 300}
        yield {
            "type": "model_response",
            **agent,
            **model,
            **tokens,
            "stop_reason": "tool_use",
            "duration_ms": 40,
        }
        hook = {"hook_name": "policy-check", "hook_id": f"{session_id}-h{number}"}
        yield {"type": "hook_triggered", **agent, **hook, "trigger_event": "PreToolUse"}
        yield {"type": "hook_completed", **agent, **hook, "outcome": "allow", "duration_ms": 2}
        tool = {"tool_name": chance.choice(_TOOLS), "tool_call_id": f"{session_id}-c{number}"}
        yield {"type": "tool_use", **agent, **tool, "input": {"number": number, "text": text}}
        failed = number % 29 == 0
        result: dict[str, object] = {"error": "no seat left"} if failed else {"output": text}
        yield {"type": "tool_result", **agent, **tool, **result, "duration_ms": 30}
        if failed:
            yield {"type": "error", **agent, "error_type": "ToolError", "message": "no seat left"}
