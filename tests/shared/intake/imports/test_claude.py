"""Transcripts of Claude Code, line by line."""

from typing import Any

import pytest

from shared.intake.redaction.rules import Redactor
from tests.support.transcripts import CLAUDE, SUBAGENT, Told, lines_of, told, transcript

SESSION = "5b1f0c52-7a3e-4a57-9d0e-2f4c6a1e9b30"


def line(kind: str, uuid: str, second: int, message: object, **fields: object) -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": uuid,
        "sessionId": "s",
        "timestamp": f"2026-11-18T09:00:{second:02}Z",
        "message": message,
        **fields,
    }


def said(second: int, content: object, uuid: str = "", **fields: object) -> dict[str, Any]:
    message = {"role": "user", "content": content}
    return line("user", uuid or f"u{second}", second, message, **fields)


def answered(
    second: int, name: str, *blocks: object, stop: str | None = None, **fields: Any
) -> dict[str, Any]:
    usage = {"input_tokens": 1, "output_tokens": second}
    message = {
        "id": name,
        "model": "m",
        "content": list(blocks),
        "stop_reason": stop,
        "usage": usage,
        **fields,
    }
    return line("assistant", f"a{second}", second, message, parentUuid="u1")


def words(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def use(name: str, **tool_input: object) -> dict[str, object]:
    return {"type": "tool_use", "id": name, "name": "Bash", "input": tool_input}


def result(name: str, **fields: object) -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": name, "content": "done", **fields}


def convert(*lines: dict[str, Any]) -> Told:
    return told(lines_of(*lines), form="claude")


def test_the_sample() -> None:
    found = told(transcript(CLAUDE), f"notes-app/{SESSION}.jsonl")
    assert found.types == [
        "agent_start",
        "human_input",
        "model_request",
        "model_response",
        "tool_use",
        "tool_use",
        "tool_result",
        "tool_result",
        "model_request",
        "model_response",
        "tool_use",
        "tool_result",
        "error",
        "model_request",
        "model_response",
        "context_compacted",
    ]
    counts = found.converted
    assert (counts.lines, counts.skipped, counts.ignored, counts.held_back) == (15, 0, 3, 0)
    assert {event["session_id"] for event in found.events} == {SESSION}
    assert {event["agent_id"] for event in found.events} == {"claude-code"}
    first = found.of("model_response")[0]
    assert first["timestamp"] == "2026-11-18T09:15:04.890000Z"
    assert first["content"] == "I look at the index and the tests."
    assert (first["input_tokens"], first["output_tokens"]) == (4 + 2100 + 11800, 188)
    assert (first["cache_read_tokens"], first["cache_write_tokens"]) == (11800, 2100)
    assert first["request_id"] == "msg_fake_001"
    assert first["service_tier"] == "standard"
    of_session = {"branch": "search", "repository": "notes-app"}
    for event in found.events:
        assert (event["agent_version"], event["attributes"]) == ("2.9.4", of_session)
    assert first["source"] == {"format": "claude", "path": f"notes-app/{SESSION}.jsonl", "line": 6}
    asked = found.of("model_request")
    assert [one["timestamp"][17:23] for one in asked] == ["00.101", "19.700", "31.004"]
    results = {one["tool_call_id"]: one for one in found.of("tool_result")}
    assert results["toolu_fake_a"]["tool_name"] == "Grep"
    assert results["toolu_fake_b"]["output"] == "None of them."
    assert results["toolu_fake_c"]["error"] == "Exit code 1\n2 failed"
    [error] = found.of("error")
    assert (error["error_type"], error["message"]) == (
        "api_error",
        "API Error: 529 overloaded_error",
    )
    [compacted] = found.of("context_compacted")
    assert (compacted["trigger"], compacted["tokens_before"]) == ("manual", 15210)


def test_a_subagent_is_an_agent_of_its_parents_session() -> None:
    found = told(transcript(SUBAGENT), "subagents/agent-e4d1.jsonl")
    assert {event["session_id"] for event in found.events} == {SESSION}
    assert {event["agent_id"] for event in found.events} == {"agent-e4d1"}
    [start] = found.of("agent_start")
    assert (start["parent_id"], start["goal"]) == ("claude-code", "Which tests cover accents?")
    without_name = told(transcript(SUBAGENT))
    assert without_name.converted.batch.ids == found.converted.batch.ids


def test_a_response_waits_for_its_end() -> None:
    lines = [
        said(1, "hello"),
        answered(2, "r", words("a")),
        answered(3, "r", use("c", n=1)),
        answered(4, "r", words("b"), stop="end_turn"),
    ]
    for count, held in ((2, 1), (3, 2)):
        found = convert(*lines[:count])
        assert found.types == ["agent_start", "human_input"]
        assert found.converted.held_back == held
    found = convert(*lines)
    assert found.types[2:] == ["model_request", "model_response", "tool_use"]
    [response] = found.of("model_response")
    assert (response["content"], response["output_tokens"]) == ("a\nb", 4)
    assert response["tool_calls"] == [{"id": "c", "name": "Bash", "arguments": {"n": 1}}]
    assert found.of("model_request")[0]["timestamp"] == "2026-11-18T09:00:01.000000Z"


def test_a_line_of_something_else_ends_a_response() -> None:
    for other in (said(5, "stop"), answered(5, "other", words("x"))):
        found = convert(said(1, "go"), answered(2, "r", words("a")), other)
        assert found.of("model_response")[0]["content"] == "a"


def test_ignored_lines_and_results_of_its_own_calls_do_not_end_a_response() -> None:
    found = convert(
        said(1, "go"),
        answered(2, "r", use("c1")),
        said(3, [result("c1")]),
        {"type": "file-history-snapshot"},
        said(4, "<system>", isMeta=True),
        answered(5, "r", use("c2"), stop="tool_use"),
        said(6, [result("c2")]),
    )
    [response] = found.of("model_response")
    assert response["output_tokens"] == 5
    assert [call["id"] for call in response["tool_calls"]] == ["c1", "c2"]
    assert found.types[2:] == [
        "model_request",
        "model_response",
        "tool_use",
        "tool_result",
        "tool_use",
        "tool_result",
    ]
    assert found.converted.ignored == 2


def test_a_line_after_the_end_counts_no_tokens_again() -> None:
    """Some versions repeat the stop reason on every line of a response."""
    found = convert(
        said(1, "go"),
        answered(2, "r", words("a"), stop="tool_use"),
        answered(3, "r", words("b"), stop="tool_use"),
        answered(4, "r", use("c"), stop="tool_use"),
    )
    assert len(found.of("model_response")) == 1
    [more] = found.of("model_message")
    assert (more["content"], more["request_id"]) == ("b", "r")
    assert "output_tokens" not in more
    assert len(found.of("tool_use")) == 1


def test_what_is_no_event() -> None:
    lines: list[dict[str, Any]] = [
        {"type": "summary", "summary": "x"},
        said(1, "<reminder>", isMeta=True),
        said(2, "what was said before", isCompactSummary=True),
        {**said(3, "no time"), "timestamp": None},
        said(4, []),
        said(5, [{"type": "image", "source": {"data": "AAAA"}}]),
        answered(6, "r", words("No response requested."), model="<synthetic>"),
        line("system", "x", 7, None, subtype="turn_duration"),
        {"type": "progress", "sessionId": "s", "uuid": "p", "timestamp": "nonsense"},
        {},
    ]
    found = convert(*lines)
    assert (found.events, found.converted.ignored) == ([], len(lines))


def test_a_repeated_line_counts_once() -> None:
    found = convert(said(1, "go", "same"), said(1, "go", "same"))
    assert found.types == ["agent_start", "human_input"]
    assert found.converted.ignored == 1


def test_pictures_are_named_and_not_stored() -> None:
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "A"},
    }
    found = convert(said(1, [result("c", content=[words("see"), picture])]))
    assert found.events[0]["output"] == [
        {"type": "text", "text": "see"},
        {"type": "image", "media_type": "image/png"},
    ]


def test_bad_lines_are_reported_and_cost_no_good_one() -> None:
    bad: list[tuple[bytes, str]] = [
        (b"nonsense", "is not JSON"),
        (b'{"type": "user", "x": "\xff"}', "is not valid UTF-8"),
        (b"[1]", "is not an object"),
        (
            lines_of({**said(2, "x"), "timestamp": "today"})[:-1],
            "timestamp is not an RFC 3339 time",
        ),
        (
            lines_of({**said(3, "x"), "timestamp": "2026-11-18T09:00:00"})[:-1],
            "timestamp has no zone",
        ),
        (
            lines_of({**said(4, "x"), "timestamp": "1999-01-01T00:00:00Z"})[:-1],
            "timestamp is before 2000-01-01",
        ),
        (lines_of({**said(5, "x"), "sessionId": ""})[:-1], "sessionId is missing"),
        (
            lines_of({**said(6, "x"), "sessionId": "a\nb"})[:-1],
            "session_id contains a control character",
        ),
        (
            lines_of({**said(7, "x"), "sessionId": "a" * 257})[:-1],
            "session_id must have at most 256 characters",
        ),
        (lines_of(said(8, "x" * 2**20))[:-1], "larger than 1048576 bytes"),
        (b'{"a":' * 5000, "is nested too deeply"),
    ]
    text = b"\n".join([*(line for line, _ in bad), lines_of(said(9, "good"))])
    found = told(text, form="claude")
    assert [error.error for error in found.converted.errors] == [reason for _, reason in bad]
    assert [error.line for error in found.converted.errors] == list(range(1, len(bad) + 1))
    assert found.converted.skipped == len(bad)
    assert found.of("human_input")[-1]["response"] == "good"


def test_half_of_a_character_that_was_cut_is_replaced() -> None:
    text = lines_of(said(1, "cut \ud83d"))
    assert rb"\ud83d" in text
    assert told(text).of("human_input")[0]["response"] == "cut \N{REPLACEMENT CHARACTER}"


def test_inputs_keep_their_bytes() -> None:
    text = lines_of(said(1, "go"), answered(2, "r", use("c", n=7), stop="x"))
    text = text.replace(b'{"n": 7}', b'{"n": 1e400, "big": 12345678901234567890123}')
    payload = told(text).converted.batch.payloads[-1]
    assert b'"input":{"n": 1e400, "big": 12345678901234567890123}' in payload


def usage_of(*messages: dict[str, Any], **fields: object) -> dict[str, Any]:
    """The response that is spread over lines with these members of usage."""
    lines = [
        {**answered(2 + n, "r", words("a"), usage={"output_tokens": 1, **usage}), **fields}
        for n, usage in enumerate(messages)
    ]
    [response] = convert(said(1, "go"), *lines, said(9, "on")).of("model_response")
    return response


def test_the_usage_of_a_response() -> None:
    found = usage_of(
        {
            "input_tokens": 1,
            "cache_creation_input_tokens": 30,
            "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
            "server_tool_use": {"web_search_requests": 3},
        }
    )
    names = ("input_tokens", "cache_write_tokens", "cache_write_1h_tokens", "web_searches")
    assert [found[name] for name in names] == [31, 30, 20, 3]
    without = usage_of({"cache_creation": 7, "server_tool_use": [], "service_tier": 7})
    assert not {"cache_write_1h_tokens", "web_searches", "service_tier"} & without.keys()


@pytest.mark.parametrize(
    ("usage", "tier"),
    [
        ({"service_tier": "priority", "speed": "fast"}, "priority"),
        ({"service_tier": "standard", "speed": "fast"}, "fast"),
        ({"service_tier": "Standard", "speed": "normal"}, "Standard"),
        ({"speed": "fast"}, "fast"),
        ({"service_tier": "[redacted]", "speed": "fast"}, "fast"),
        ({}, None),
    ],
)
def test_the_speed_counts_where_the_tier_is_none(usage: dict[str, Any], tier: str | None) -> None:
    assert usage_of(usage).get("service_tier") == tier


def test_the_last_usage_and_the_last_cost_count_once() -> None:
    last = usage_of({"service_tier": "batch"}, {"speed": "fast"}, costUSD=0.0125)
    assert (last["service_tier"], last["cost_usd"]) == ("fast", 0.0125)
    first, second = answered(2, "r", words("a")), answered(3, "r", words("b"), stop="end_turn")
    for lines in ([{**first, "costUSD": 0.5}, second], [first, {**second, "costUSD": 0.5}]):
        found = convert(said(1, "go"), *lines)
        assert [event["cost_usd"] for event in found.events if "cost_usd" in event] == [0.5]
    assert "cost_usd" not in usage_of({}, costUSD="much")


def test_each_line_has_its_own_version_and_branch() -> None:
    found = convert(
        said(1, "go", version="1", gitBranch="main", cwd="/srv/notes/"),
        said(2, "on", version="2", gitBranch="", cwd="C:\\work\\shop"),
        said(3, "x", cwd="/"),
    )
    named = [(event.get("agent_version"), event.get("attributes")) for event in found.events[1:]]
    assert named == [
        ("1", {"branch": "main", "repository": "notes"}),
        ("2", {"repository": "shop"}),
        (None, None),
    ]


@pytest.mark.parametrize("key", ["gitBranch", "GITBRANCH", "cwd", "version", "branch"])
def test_redacted_keys_name_nothing(key: str) -> None:
    line = said(1, "go", version="hush", gitBranch="hush", cwd="/hush")
    for payload in told(lines_of(line), form="claude", redactor=Redactor([key])).events:
        attributes = payload.get("attributes", {})
        found = {
            "gitbranch": attributes.get("branch"),
            "cwd": attributes.get("repository"),
            "version": payload.get("agent_version"),
            "branch": attributes.get("branch"),
        }
        left = None if key != "branch" else "[redacted]"
        assert found.pop(key.lower()) == left
        assert "hush" in found.values()
