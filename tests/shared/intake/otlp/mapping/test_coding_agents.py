"""Log records of Claude Code and Codex."""

from typing import Any

import msgspec
import pytest

from shared.intake.otlp.mapping import Assignment, log_events
from tests.support.otlp_spans import LIMIT, ORG, RESOURCE, SCOPE, log, log_payloads


def claude(name: str, **attributes: Any) -> list[dict[str, Any]]:
    told = {"event.name": name, "session.id": "s", **attributes}
    return log_payloads(log(told, body=f"claude_code.{name}"))


def codex(name: str, **attributes: Any) -> list[dict[str, Any]]:
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    return log_payloads(log({"event.name": f"codex.{name}", "conversation.id": "s", **named}))


def test_a_prompt() -> None:
    for agent in (claude, codex):
        [payload] = agent("user_prompt", prompt="Fix it", prompt_length="6")
        assert (payload["type"], payload["response"]) == ("human_input", "Fix it")
        assert payload["otel"]["attributes"]["prompt_length"] == "6"
        assert "prompt" not in payload["otel"]["attributes"]
        assert agent("user_prompt")[0]["response"] == ""


@pytest.mark.parametrize("form", [int, str])
def test_an_answer_of_claude_code(form: type) -> None:
    [payload] = claude(
        "api_request",
        model="claude-x",
        input_tokens=form(5),
        output_tokens=form(7),
        cache_read_tokens=form(100),
        cache_creation_tokens=form(20),
        cost_usd=str(0.25) if form is str else 0.25,
        duration_ms=form(1500),
    )
    assert payload["type"] == "model_response"
    names = ("model", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    assert [payload[name] for name in names] == ["claude-x", 125, 7, 100, 20]
    assert (payload["duration_ms"], payload["cost_usd"]) == (1500, 0.25)


def test_the_speed_of_claude_code_is_its_tier() -> None:
    [payload] = claude("api_request", output_tokens=7, speed="fast")
    assert payload["service_tier"] == payload["otel"]["attributes"]["speed"] == "fast"
    assert "service_tier" not in claude("api_request", output_tokens=7, speed="[redacted]")[0]
    assert "service_tier" not in claude("user_prompt", speed="fast")[0]


def test_an_answer_of_codex() -> None:
    [payload] = codex(
        "sse_event",
        event__kind="response.completed",
        model="gpt-x",
        input_token_count=100,
        output_token_count=7,
        cached_token_count=90,
        reasoning_token_count=3,
    )
    assert payload["type"] == "model_response"
    names = ("model", "input_tokens", "output_tokens", "cache_read_tokens", "reasoning_tokens")
    assert [payload[name] for name in names] == ["gpt-x", 100, 7, 90, 3]


def test_the_end_of_an_answer_of_codex_without_its_tokens_is_a_log() -> None:
    [payload] = codex("sse_event", event__kind="response.completed", duration_ms="5")
    assert payload["type"] == "log"


def test_codex_is_known_although_tracing_names_the_line() -> None:
    attributes = {"event.name": "codex.user_prompt", "conversation.id": "s", "prompt": "Fix it"}
    [payload] = log_payloads(log(attributes, event_name="event otel/src/telemetry.rs:1200"))
    assert (payload["type"], payload["response"]) == ("human_input", "Fix it")


def test_a_call_that_failed() -> None:
    [payload] = claude("api_error", model="claude-x", error="overloaded", status_code="529")
    assert (payload["type"], payload["error_type"]) == ("error", "api_error")
    assert payload["message"] == "overloaded"


@pytest.mark.parametrize(
    ("agent", "decision", "outcome"),
    [
        (claude, "accept", "success"),
        (claude, "reject", "denied"),
        (codex, "approved_for_session", "success"),
        (codex, "denied", "denied"),
    ],
)
def test_a_decision(agent: Any, decision: str, outcome: str) -> None:
    [payload] = agent("tool_decision", tool_name="Bash", decision=decision)
    assert (payload["type"], payload["hook_name"]) == ("hook_completed", "permission")
    assert (payload["outcome"], payload["tool_name"]) == (outcome, "Bash")


@pytest.mark.parametrize("success", [True, "true", None])
def test_a_result_of_claude_code(success: Any) -> None:
    told = {"tool_name": "Bash", "duration_ms": "250", "tool_parameters": '{"command": "ls"}'}
    use, result = claude("tool_result", success=success, tool_use_id="t1", **told)
    assert (use["type"], result["type"]) == ("tool_use", "tool_result")
    assert use["timestamp"] == "2026-11-22T08:26:39.750000Z"
    assert result["timestamp"] == "2026-11-22T08:26:40.000000Z"
    assert use["tool_name"] == result["tool_name"] == "Bash"
    assert use["tool_call_id"] == result["tool_call_id"] == "t1"
    assert (use["tool_kind"], use["input"]) == ("tool", {"command": "ls"})
    assert result["duration_ms"] == 250
    assert "error" not in result
    assert "attributes" not in use["otel"]


def test_a_result_of_codex() -> None:
    told = {"tool_name": "shell", "call_id": "c1", "arguments": '{"cmd": "ls"}', "output": "a b"}
    use, result = codex("tool_result", success="true", duration_ms=5, **told)
    assert use["tool_call_id"] == result["tool_call_id"] == "c1"
    assert (use["input"], result["output"]) == ({"cmd": "ls"}, "a b")


@pytest.mark.parametrize(
    ("told", "error"),
    [({"error": "no file"}, "no file"), ({"output": "no file"}, "no file"), ({}, "error")],
)
@pytest.mark.parametrize("success", [False, "false", "False"])
def test_a_result_that_failed(told: dict[str, str], error: str, success: Any) -> None:
    use, result = claude("tool_result", success=success, **told)
    assert result["error"] == error
    assert "error" not in use
    assert use["tool_call_id"] == result["tool_call_id"] == "f" * 16


@pytest.mark.parametrize(
    ("agent", "name", "told"),
    [
        (claude, "hook_started", {}),
        (codex, "conversation_starts", {}),
        (codex, "api_request", {"duration_ms": 5}),
        (codex, "sse_event", {"event__kind": "response.created"}),
    ],
)
def test_other_reports_are_logs(agent: Any, name: str, told: dict[str, Any]) -> None:
    [payload] = agent(name, **told)
    assert payload["type"] == "log"
    assert payload["name"].endswith(name)


def test_the_two_events_of_a_result_have_ids_of_their_own() -> None:
    record = log({"event.name": "tool_result"}, body="claude_code.tool_result")
    events = log_events(ORG, record, RESOURCE, SCOPE, Assignment("a session", "bot"), LIMIT)
    assert len({event.id for event in events}) == 2
    assert [msgspec.json.decode(event.payload)["type"] for event in events] == [
        "tool_use",
        "tool_result",
    ]
