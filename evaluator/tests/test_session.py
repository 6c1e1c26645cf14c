"""A session tells the same of each form in which Watchpost gives it out."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from kit.sessions import event, exports, recorded, said, session, tool
from watchpost_evaluator import Session
from watchpost_evaluator.errors import BadSession
from watchpost_evaluator.events import moment
from watchpost_evaluator.session import read_session

NOON = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-01T12:00:00Z",
        "2026-01-01T12:00:00.000000Z",
        "2026-01-01T14:00:00+02:00",
        "2026-01-01t05:30:00.0-0630",
        "2026-01-01 12:00:00.000000999z",
    ],
)
def test_a_moment_has_any_zone(text: str) -> None:
    assert moment(text) == NOON
    assert moment(text).utcoffset() == timedelta(0)


@pytest.mark.parametrize("text", ["2026-01-01T12:00:00", "2026-13-01T12:00:00Z", "noon", None])
def test_a_moment_without_a_zone_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="time"):
        moment(text)


def test_the_parts_of_a_session() -> None:
    made = session(
        event("agent_start", agent_id="helper", goal="Other"),
        said("Hello", input_tokens=7, output_tokens=2),
        event("model_response", agent_id="helper", input_tokens=1, output_tokens=-1),
        event("agent_end", agent_id="helper", outcome="failed"),
        event("error", message="no"),
        outcome=" Success ",
    )
    assert (made.id, made.agent_id, made.environment) == ("s-1", "root", "default")
    assert (made.goal, made.outcome) == ("Help", "success")
    assert (made.tokens, made.tokens.total) == ((8, 2), 10)
    assert made.agents() == ["root", "helper"]
    assert made.count("agent_end") == 2
    assert [one.type for one in made.errors()] == ["agent_end", "error"]
    assert made.ended_at == made.events[-1].at
    assert made.duration_secs == len(made.events) - 1


def test_a_session_without_an_end() -> None:
    made = session()
    assert (made.ended_at, made.outcome, made.duration_secs) == (None, None, 0)
    empty = Session({"events": []})
    assert (empty.goal, empty.agent_id, empty.duration_secs, empty.agents()) == (
        None,
        "main",
        0,
        [],
    )


def test_calls_are_paired_by_id_else_in_order() -> None:
    made = session(
        event("tool_use", tool_name="a", tool_call_id="1", input={"n": 1}),
        event("tool_use", tool_name="a", tool_call_id="2", input={"n": 2}),
        event("tool_result", tool_name="a", tool_call_id="2", output="two", duration_ms=5),
        event("tool_result", tool_name="a", tool_call_id="1", output="one", error=False),
        event("tool_use", tool_name="b", input={"n": 3}),
        event("tool_use", tool_name="b", input={"n": 4}),
        event("tool_result", tool_name="b", error="bad"),
        event("tool_result", tool_name="c", outcome="denied"),
    )
    found = [(c.name, c.input, c.output, c.error, c.failed) for c in made.tool_calls()]
    assert found == [
        ("a", {"n": 1}, "one", None, False),
        ("a", {"n": 2}, "two", None, False),
        ("b", {"n": 3}, None, "bad", True),
        ("b", {"n": 4}, None, None, False),
        ("c", None, None, None, True),
    ]
    assert [c.duration_ms for c in made.tool_calls()] == [3000, 5, 2000, None, None]
    assert [len(c.events) for c in made.tool_calls("b")] == [2, 1]
    assert [c.input for c in made.tool_calls("b", failed=False)] == [{"n": 4}]
    assert made.tool_calls("c")[0].at == made.events[-1].at


def test_the_calls_of_models() -> None:
    [call] = session(said("Hi", stop_reason="end_turn", input_tokens=3.0)).model_calls()
    assert (call.model, call.content, call.stop_reason) == ("gpt-4o", "Hi", "end_turn")
    assert (call.input_tokens, call.output_tokens, call.failed) == (3, None, False)


def test_every_form_of_an_export_is_read() -> None:
    export = exports()[0]
    lines = b"\n".join(json.dumps(one).encode() for one in export["events"])
    sent = b"\n".join(json.dumps(one["payload"]).encode() for one in export["events"])
    texts = [{**one, "id": str(one["id"])} for one in export["events"]]
    of_pool = {**export, "events": texts, "schema_version": "2"}
    whole, *others = (
        read_session(one)
        for one in (json.dumps(export).encode(), lines, json.dumps(of_pool).encode(), sent)
    )
    assert whole.ended_at == whole.events[-1].at
    for other in others:
        for name in ("id", "agent_id", "environment", "started_at", "ended_at", "goal", "outcome"):
            assert getattr(other, name) == getattr(whole, name), name
        assert [one.payload for one in other.events] == [one.payload for one in whole.events]
    assert others[1].events == whole.events


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"{", "line 1 is not JSON"),
        (b"3", "an object with events"),
        (b"{}", "the session has no events"),
        (b'[{"type": 3}]', r"events\[0\] has no type"),
        (b"[3]", r"events\[0\] is no object"),
        (b'[{"type": "a", "timestamp": "noon"}]', r"events\[0\]: 'noon' is no time"),
        (b'[{"event_type": "a", "payload": {}}]', r"events\[0\] has no id"),
        (b'{"events": [], "session_id": 3}', "session_id of the session is no text"),
        (b'{"events": [], "ended_at": "noon"}', "ended_at: 'noon' is no time"),
    ],
)
def test_what_is_no_session_says_why(content: bytes, problem: str) -> None:
    with pytest.raises(BadSession, match=problem):
        read_session(content)


def test_one_event_is_a_session() -> None:
    made = read_session(b'{"type": "agent_start", "goal": "Help", "session_id": "x"}')
    assert (made.id, made.goal, len(made.events)) == ("x", "Help", 1)


def test_the_recorded_sessions_are_read() -> None:
    read = recorded()
    assert len(read) == 200
    assert sum(len(one.tool_calls()) for one in read) == 1164
    assert sum(len(one.tool_calls(failed=True)) for one in read) == 73
    assert all(len(call.events) == 2 for one in read for call in one.tool_calls())
    assert sum(len(one.model_calls()) for one in read) == 2454


def test_a_hostile_payload_breaks_nothing() -> None:
    odd: list[Any] = [[], {}, 1e300, True, None, "x"]
    names = ("tool_name", "tool_call_id", "error", "outcome", "duration_ms", "input_tokens")
    events = [
        event(kind, **dict.fromkeys(names, one))
        for one in odd
        for kind in ("tool_use", "tool_result", "agent_end", "model_response")
    ]
    made = session(*events)
    assert len(made.tool_calls()) == len(odd)
    assert [c.failed for c in made.tool_calls()] == [True, True, True, True, False, True]
    assert made.tokens.total == 0
    assert made.errors()
    assert [c.duration_ms for c in made.tool_calls()] == [1000.0] * len(odd)


def test_turns_have_what_was_said_once() -> None:
    history = [{"role": "user", "content": "Why?"}]
    made = session(
        event("model_request", model="m", messages=history, system="Be kind."),
        event("model_response", model="m", content="Because."),
        event("model_request", model="m", messages=[*history, {"role": "user", "content": "And?"}]),
        event("note", agent_id="helper"),
        tool("look", {"where": "here"}, error="not there"),
        outcome="success",
    )
    said = [(turn.n, turn.role, turn.words) for turn in made.turns()]
    assert said == [
        (1, "goal", "Help"),
        (2, "system", "Be kind."),
        (3, "user", "Why?"),
        (4, "assistant", "Because."),
        (5, "user", "And?"),
        (6, "tool", '{"where":"here"}\nok\nnot there'),
        (7, "end", "success"),
    ]
    call = made.turns("root")[5]
    assert (call.event_ids, call.at, call.cut) == ((6, 7), made.events[5].at, 0)
    assert call.tool is not None
    assert (call.tool.name, call.tool.failed) == ("look", True)
    assert call.ts == "2026-01-01T00:00:05.000000Z"
    assert made.turns("helper") == []
    assert made.text("user") == "Why?\nAnd?"
    assert [turn.n for turn in made.find(r"(?i)\bhere")] == [6]
    assert made.find("Why", role="assistant") == []
    with pytest.raises(ValueError, match="'person' is no role; there are goal,"):
        made.text("person")


def test_the_turns_of_the_recorded_sessions() -> None:
    for one in recorded():
        turns = one.turns()
        assert [turn.n for turn in turns] == list(range(1, len(turns) + 1))
        assert len([turn for turn in turns if turn.role == "tool"]) == len(one.tool_calls())
        assert len([turn for turn in turns if turn.role == "user"]) == one.count("human_input")
