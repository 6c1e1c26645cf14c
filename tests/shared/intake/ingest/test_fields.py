"""Promoted fields, the error flag and the one-line summary."""

import msgspec
import pytest

from shared.intake.ingest.fields import is_error, read_fields, unusable_in
from shared.intake.ingest.summary import MAX_CHARS, summarise


def payload(**fields: object) -> bytes:
    return msgspec.json.encode({"session_id": "s", "type": "t", **fields})


def summary(event_type: str, **fields: object) -> str:
    sent = payload(**fields)
    return summarise(event_type, read_fields(sent), sent)


def test_a_field_of_the_wrong_type_is_null_and_its_neighbours_are_not() -> None:
    fields = read_fields(payload(tool_name=5, hook_name="h", output_tokens="few", input_tokens=7))
    assert (fields.tool_name, fields.hook_name) == (None, "h")
    assert (fields.output_tokens, fields.input_tokens) == (None, 7)


@pytest.mark.parametrize("number", [b"-1", b"4294967296", b"1e400", b"1.5", b"true"])
def test_a_number_outside_32_bits_is_null(number: bytes) -> None:
    assert read_fields(b'{"input_tokens":%s}' % number).input_tokens is None


def test_a_count_may_be_written_with_a_point() -> None:
    assert read_fields(b'{"input_tokens":9.0,"model":7}').input_tokens == 9
    assert unusable_in(read_fields(b'{"input_tokens":-9,"output_tokens":"9"}')) == {"input_tokens"}


def test_model_may_be_called_model_name() -> None:
    assert read_fields(payload(model_name="m")).model == "m"
    assert read_fields(payload(model="a", model_name="b")).model == "a"


@pytest.mark.parametrize(
    ("event_type", "fields", "expected"),
    [
        ("error", {}, True),
        ("note", {"error": "boom"}, True),
        ("note", {"error": {"code": 1}}, True),
        ("note", {"error": 0}, True),
        ("note", {"error": None}, False),
        ("note", {"error": False}, False),
        ("note", {"error": ""}, False),
        ("agent_end", {"outcome": "failed"}, True),
        ("tool_result", {"outcome": "timeout"}, True),
        ("hook_completed", {"outcome": "blocked"}, True),
        ("hook_completed", {"outcome": "allow"}, False),
        ("note", {"outcome": "failed"}, False),
    ],
)
def test_is_error(event_type: str, fields: dict[str, object], expected: bool) -> None:
    assert is_error(event_type, read_fields(payload(**fields))) is expected


@pytest.mark.parametrize(
    ("event_type", "fields", "expected"),
    [
        ("agent_start", {"goal": "book  a\nflight"}, "book a flight"),
        ("agent_end", {"outcome": "failed", "summary": "no seats"}, "failed: no seats"),
        ("agent_end", {"outcome": "ok"}, "ok"),
        ("tool_use", {"tool_name": "find", "input": {"q": 1}}, 'find({"q":1})'),
        ("tool_result", {"tool_name": "find", "output": "3 rows"}, "find → 3 rows"),
        ("tool_result", {"tool_name": "find", "error": "gone"}, "find → gone"),
        (
            "model_response",
            {"model": "m", "stop_reason": "end_turn", "input_tokens": 5, "output_tokens": 2},
            "m → end_turn, 5+2 tokens",
        ),
        ("error", {"error_type": "E", "message": "bad"}, "E: bad"),
        ("hook_triggered", {"hook_name": "h", "trigger_event": "PreToolUse"}, "h on PreToolUse"),
        (
            "hook_completed",
            {"hook_name": "h", "trigger_event": "Pre", "outcome": "allow"},
            "h on Pre → allow",
        ),
        ("human_wait", {"prompt": "sure?"}, "sure?"),
        ("human_input", {"response": "yes"}, "yes"),
        ("human_pause", {"reason": "lunch"}, "lunch"),
        ("unheard_of", {"n": 1, "note": "first text", "other": "second"}, "first text"),
        ("tool_use", {"note": "no name here"}, "no name here"),
        ("unheard_of", {"n": [0, {"a": {"b": "deep"}}, "later"], "note": "plain"}, "plain"),
        ("unheard_of", {"n": [0, {"a": {"b": "deep"}}, "later"], "o": ["last"]}, "deep"),
        ("unheard_of", {"n": 1, "o": [[]], "p": {"q": ""}}, ""),
    ],
)
def test_summary(event_type: str, fields: dict[str, object], expected: str) -> None:
    assert summary(event_type, **fields) == expected


def test_summary_is_cut_and_says_so() -> None:
    line = summary("agent_start", goal="word " * 5000)
    assert len(line) == MAX_CHARS
    assert line.endswith("…")
