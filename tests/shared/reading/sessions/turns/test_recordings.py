"""The recordings: each message and each call is a turn, once."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from shared.reading.sessions.turns.rule import turns
from tests.shared.intake.otlp.mapping.test_samples import (
    ANSWER,
    QUESTION,
    SYSTEM,
    TRACES,
    events_of,
    records_of,
)
from tests.shared.reading.sessions.turns.conversations import said
from tests.support.airline import Airline
from tests.support.otlp import needs_samples, sample_folder
from tests.support.transcripts import CLAUDE, CODEX, SUBAGENT, told, transcript

CALL = ("tool", '{"city":"Lisbon"}', "18 degrees, clear, in Lisbon")
ASKED = [("system", SYSTEM), ("user", QUESTION)]


def requested(payloads: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns the events of an evaluator's request."""
    return [
        {"id": n, "ts": payload["timestamp"], "event_type": payload["type"], "payload": payload}
        for n, payload in enumerate(sorted(payloads, key=lambda one: str(one["timestamp"])))
    ]


def of_roles(found: Iterable[Mapping[str, Any]], *roles: str) -> list[tuple[str, ...]]:
    return said(turn for turn in found if turn["role"] in roles)


def test_the_airline(airline: Airline) -> None:
    sessions = defaultdict(list)
    for line in airline.lines:
        payload = json.loads(line)
        sessions[payload["session_id"]].append(payload)
    for payloads in sessions.values():
        found = list(turns(requested(payloads)))
        people = [("user", one["response"]) for one in payloads if one["type"] == "human_input"]
        answers = [
            ("assistant", one["content"])
            for one in payloads
            if one["type"] == "model_response" and one.get("content")
        ]
        assert Counter(of_roles(found, "user", "assistant")) == Counter(people + answers)
        calls = [one["tool_call_id"] for one in payloads if one["type"] == "tool_use"]
        assert [turn["tool"]["call_id"] for turn in found if turn["tool"]] == calls
        # Some ids come twice in a session.
        results = Counter(
            (one["tool_call_id"], one.get("output", ""), one.get("error", ""))
            for one in payloads
            if one["type"] == "tool_result"
        )
        assert results == Counter(
            (turn["tool"]["call_id"], turn["tool"]["output"], turn["text"])
            for turn in found
            if turn["tool"]
        )


@needs_samples
@pytest.mark.parametrize("name", TRACES)
def test_opentelemetry(name: str) -> None:
    events = sorted(
        (event for records in records_of(name) for event in events_of(records)),
        key=lambda event: event.ts,
    )
    found = turns(
        {
            "id": event.id,
            "ts": str(event.ts),
            "event_type": event.event_type,
            "payload": json.loads(event.payload),
        }
        for event in events
    )
    wanted = [*ASKED, CALL, ("assistant", ANSWER)]
    if name == "otel-anthropic":
        wanted.remove(CALL)
    elif name == "otel-openai-broken":
        wanted = [
            ("user", QUESTION),
            ("error", "openai.BadRequestError: Error code: 400 - the model is broken"),
        ]
    elif name == "pydantic-ai-tool-error":
        wanted = [*ASKED, ("tool", '{"city":"Lisbon"}', "")]
    assert of_roles(found, "system", "user", "assistant", "tool", "error") == wanted


@needs_samples
@pytest.mark.parametrize("name", ["failproofai-events", "failproofai-langchain"])
def test_spools(name: str) -> None:
    [path] = sorted((sample_folder() / name).glob("custom-agents/events/*.jsonl"))
    found = turns(requested(map(json.loads, path.read_text().splitlines())))
    wanted = [("user", QUESTION), CALL]
    if name == "failproofai-langchain":
        wanted = [("system", SYSTEM), *wanted, ("assistant", ANSWER)]
    assert of_roles(found, "system", "user", "assistant", "tool") == wanted


@pytest.mark.parametrize(
    ("path", "roles"),
    [
        (CLAUDE, "goal user assistant tool tool tool error assistant system"),
        (SUBAGENT, "goal user tool assistant"),
        (CODEX, "goal user tool tool assistant"),
    ],
)
def test_transcripts(path: str, roles: str) -> None:
    events = told(transcript(path), path).events
    found = list(turns(requested(events)))
    assert [turn["role"] for turn in found] == roles.split()
    texts = [one.get("content") for one in events if one["type"] == "model_response"]
    assert [text for _, text in of_roles(found, "assistant")] == [*filter(None, texts)]
    calls = [one["tool_call_id"] for one in events if one["type"] == "tool_use"]
    assert [turn["tool"]["call_id"] for turn in found if turn["tool"]] == calls
