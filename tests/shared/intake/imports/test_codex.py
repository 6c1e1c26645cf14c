"""Rollouts of Codex, line by line."""

import json
from typing import Any

import pytest

from shared.intake.redaction.rules import Redactor
from tests.support.transcripts import CODEX, Told, lines_of, told, transcript

SESSION = "0a9d2c44-51f7-4b0e-8a63-7c1d9e5f2b18"


def line(second: int, kind: str, item: str = "", **payload: object) -> dict[str, Any]:
    named = {"type": item} if item else {}
    moment = f"2026-11-18T10:00:{second:02}Z"
    return {"timestamp": moment, "type": kind, "payload": {**named, **payload}}


META = line(0, "session_meta", id="s")
CONTEXT = line(0, "turn_context", model="m")


def words(second: int, text: str, role: str = "assistant") -> dict[str, Any]:
    content = [{"type": "output_text", "text": text}]
    return line(second, "response_item", "message", role=role, content=content)


def counted(second: int, **usage: int) -> dict[str, Any]:
    return line(second, "event_msg", "token_count", info={"last_token_usage": usage})


def convert(*lines: dict[str, Any]) -> Told:
    return told(lines_of(META, CONTEXT, *lines))


def test_the_sample() -> None:
    found = told(transcript(CODEX), CODEX)
    assert found.types == [
        "agent_start",
        "human_input",
        "tool_use",
        "tool_use",
        "model_response",
        "tool_result",
        "tool_result",
        "model_response",
    ]
    counts = found.converted
    assert (counts.lines, counts.skipped, counts.ignored, counts.held_back) == (18, 0, 9, 0)
    assert {event["session_id"] for event in found.events} == {SESSION}
    first, second = found.of("model_response")
    assert (first["model"], first["reasoning"]) == ("gpt-fake-codex", "**Reading the changelog**")
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "reasoning_tokens")
    assert [first[name] for name in names] == [9100, 120, 8000, 64]
    assert [call["id"] for call in first["tool_calls"]] == ["call_fake1", "call_fake2"]
    assert (second["content"], second["input_tokens"]) == ("Added.", 9500)
    assert found.of("tool_use")[0]["input"] == {"cmd": "head CHANGELOG.md"}
    assert found.of("tool_use")[1]["input"] == "*** Begin Patch\n*** End Patch"
    assert (first["provider"], second["provider"]) == ("openai", "openai")
    for event in found.events:
        assert event["agent_version"] == "0.98.0"
        assert event["attributes"] == {"repository": "notes-app"}
    patched = found.of("tool_result")[1]
    assert (patched["tool_name"], patched["output"]["output"]) == ("apply_patch", "Success")


def test_items_wait_for_a_count_of_tokens() -> None:
    waiting = convert(words(1, "a"), words(2, "b"))
    assert (waiting.types, waiting.converted.held_back) == ([], 2)
    found = convert(words(1, "a"), words(2, "b"), counted(3, input_tokens=7, output_tokens=1))
    [response] = found.events
    assert (response["content"], response["input_tokens"], response["model"]) == ("a\nb", 7, "m")
    assert found.converted.held_back == 0


def test_a_count_without_items_or_without_usage_is_ignored() -> None:
    limits = line(3, "event_msg", "token_count", info=None)
    found = convert(words(1, "a"), limits, counted(4, output_tokens=1), counted(5, output_tokens=1))
    assert [event["output_tokens"] for event in found.events] == [1]
    # The lines that name the session and the model, and both counts.
    assert found.converted.ignored == 4


def test_a_response_that_is_never_counted_ends_with_its_turn() -> None:
    for item in ("task_complete", "turn_aborted", "user_message", "error"):
        found = convert(words(1, "a"), line(2, "event_msg", item, message="x"))
        response = found.events[0]
        assert (response["type"], response["content"]) == ("model_response", "a")
        assert "output_tokens" not in response


def test_interruptions_errors_and_compactions() -> None:
    found = convert(
        line(1, "event_msg", "turn_aborted", reason="interrupted"),
        line(2, "event_msg", "error", message="no quota", codex_error_info="usage_limit"),
        line(3, "compacted", message="so far"),
    )
    assert found.types == ["human_interrupt", "error", "context_compacted"]
    assert found.events[0]["reason"] == "interrupted"
    assert (found.events[1]["error_type"], found.events[1]["message"]) == (
        "usage_limit",
        "no quota",
    )


def test_every_kind_of_call() -> None:
    failed = json.dumps({"output": "no", "metadata": {"exit_code": 2}})
    found = convert(
        line(1, "response_item", "local_shell_call", call_id="c1", action={"command": ["ls"]}),
        line(2, "response_item", "web_search_call", id="c2", action={"query": "q"}),
        line(3, "response_item", "function_call", call_id="c3", name="f", arguments="not json"),
        line(4, "response_item", "function_call_output", call_id="c3", output=failed),
        line(5, "response_item", "function_call_output", call_id="c9", output=[{"x": 1}]),
    )
    uses = [(one["tool_name"], one["tool_call_id"], one["input"]) for one in found.of("tool_use")]
    assert uses == [
        ("local_shell", "c1", {"command": ["ls"]}),
        ("web_search", "c2", {"query": "q"}),
        ("f", "c3", "not json"),
    ]
    first, second = found.of("tool_result")
    assert (first["tool_name"], first["error"]) == ("f", "exit code 2")
    assert second["output"] == [{"x": 1}]
    assert "tool_name" not in second


def test_words_of_a_person_are_a_message_or_an_item() -> None:
    """Codex 0.169 writes an item where earlier versions wrote a message."""
    person = {"type": "UserMessage", "content": [{"type": "text", "text": "Weather?"}]}
    model = {"type": "AgentMessage", "content": [{"type": "Text", "text": "Sunny."}]}
    items = [line(2, "event_msg", "item_completed") for _ in range(2)]
    for one, said in zip(items, (person, model), strict=True):
        one["payload"]["item"] = said
    found = convert(*items)
    assert found.types == ["agent_start", "human_input"]
    assert (found.events[0]["goal"], found.events[1]["response"]) == ("Weather?", "Weather?")
    both = convert(line(1, "event_msg", "user_message", message="Weather?"), *items)
    assert both.types == ["agent_start", "human_input"]


def test_the_session_is_the_first_meta_else_the_uuid_of_the_name() -> None:
    person = line(1, "event_msg", "user_message", message="hi")
    found = told(lines_of(META, line(0, "session_meta", id="copied"), person))
    assert {event["session_id"] for event in found.events} == {"s"}
    named = told(lines_of(person), f"18/rollout-2026-11-18T10-40-00-{SESSION}.jsonl")
    assert {event["session_id"] for event in named.events} == {SESSION}
    unnamed = told(lines_of(person))
    assert unnamed.events == []
    assert "session is not known" in unnamed.converted.errors[0].error


def test_a_line_without_a_time_is_bad() -> None:
    lost = {**line(1, "event_msg", "user_message", message="hi"), "timestamp": None}
    found = convert(lost)
    assert [(one.line, one.error) for one in found.converted.errors] == [
        (3, "timestamp is missing")
    ]


GIT = {"branch": "main", "repository_url": "https://zoe:secret@example.com/shop/notes.git"}
DESCRIBED = line(
    0, "session_meta", id="s", cwd="/srv/work", cli_version="0.9", model_provider="azure", git=GIT
)


def test_the_first_meta_describes_the_session() -> None:
    copied = line(0, "session_meta", id="copied", cli_version="0.1", model_provider="other")
    found = told(lines_of(DESCRIBED, copied, CONTEXT, words(1, "a"), counted(2, output_tokens=1)))
    [response] = found.events
    assert (response["agent_version"], response["provider"]) == ("0.9", "azure")
    assert response["attributes"] == {"branch": "main", "repository": "shop/notes"}
    assert "secret" not in repr(found.events)


@pytest.mark.parametrize(
    "key", ["cli_version", "model_provider", "branch", "repository_url", "git"]
)
def test_redacted_keys_name_nothing(key: str) -> None:
    lines = lines_of(DESCRIBED, CONTEXT, words(1, "a"), counted(2, output_tokens=1))
    [event] = told(lines, redactor=Redactor([key])).events
    attributes = event["attributes"]
    assert ("agent_version" in event) == (key != "cli_version")
    assert ("provider" in event) == (key != "model_provider")
    assert attributes.get("branch", "[redacted]") == (
        "[redacted]" if key in ("branch", "git") else "main"
    )
    from_folder = key in ("repository_url", "git")
    assert attributes["repository"] == ("work" if from_folder else "shop/notes")
