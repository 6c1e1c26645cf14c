"""Documents in the Agent Trajectory Interchange Format."""

import json
from typing import Any

import pytest

from shared.foundation.core.errors import Invalid
from tests.support.transcripts import Told, told

CALL = {"tool_call_id": "c", "function_name": "ls", "arguments": {"path": "."}}
STEPS: list[dict[str, Any]] = [
    {"step_id": 1, "source": "system", "message": "be brief"},
    {"step_id": 2, "source": "user", "message": "list", "timestamp": "2026-11-18T09:00:00Z"},
    {
        "step_id": 3,
        "source": "agent",
        "message": "listing",
        "reasoning_content": "hm",
        "model_name": "m2",
        "tool_calls": [CALL],
        "observation": {"results": [{"source_call_id": "c", "content": "a b"}]},
        "metrics": {
            "prompt_tokens": 10,
            "completion_tokens": 2,
            "cached_tokens": 4,
            "cost_usd": 0.5,
        },
    },
    {"step_id": 4, "source": "agent", "message": [{"type": "text", "text": "done"}]},
]


def document(steps: list[dict[str, Any]] = STEPS, **fields: Any) -> dict[str, Any]:
    agent = {"name": "terminus", "version": "1", "model_name": "m"}
    return {
        "schema_version": "ATIF-v1.4",
        "session_id": "s",
        "agent": agent,
        "steps": steps,
        **fields,
    }


def convert(made: dict[str, Any], *, indent: int | None = None, **options: Any) -> Told:
    return told(json.dumps(made, indent=indent).encode(), **options)


def test_a_document() -> None:
    found = convert(document())
    assert found.types == [
        "agent_start",
        "human_input",
        "model_response",
        "tool_use",
        "tool_result",
        "model_response",
        "agent_end",
    ]
    assert {(one["session_id"], one["agent_id"]) for one in found.events} == {("s", "terminus")}
    assert {one["agent_version"] for one in found.events} == {"1"}
    assert found.events[0]["goal"] == "list"
    response = found.of("model_response")[0]
    assert (response["model"], response["request_id"], response["reasoning"]) == (
        "m2",
        "step-3",
        "hm",
    )
    assert (response["input_tokens"], response["output_tokens"]) == (10, 2)
    assert (response["cache_read_tokens"], response["cost_usd"]) == (4, 0.5)
    assert found.of("tool_use")[0]["input"] == {"path": "."}
    assert found.of("tool_result")[0]["output"] == "a b"
    assert found.of("tool_result")[0]["tool_name"] == "ls"
    assert found.of("model_response")[1]["content"] == "done"
    assert found.events[-1]["summary"] == "done"
    counts = found.converted
    assert (counts.lines, counts.ignored, counts.skipped) == (4, 1, 0)


def test_a_step_without_a_time_comes_a_millisecond_after_the_one_before() -> None:
    times = [one["timestamp"][17:23] for one in convert(document()).events]
    assert times == ["59.999", "00.000", "00.001", "00.001", "00.001", "00.002", "00.002"]


def test_a_document_without_times_needs_the_start() -> None:
    timeless = document([{"source": "user", "message": "hi"}])
    with pytest.raises(Invalid) as refused:
        convert(timeless)
    assert (refused.value.code, list(refused.value.fields)) == ("no_time", ["started_at"])
    found = convert(timeless, started_us=1_763_456_400_000_000)
    assert found.events[0]["timestamp"] == "2025-11-18T09:00:00.000000Z"


def test_blanks_between_values_change_nothing() -> None:
    flat, pretty = convert(document()), convert(document(), indent=2)
    assert pretty.converted.batch.payloads == flat.converted.batch.payloads
    assert pretty.converted.batch.ids == flat.converted.batch.ids


def test_a_document_that_grew_keeps_its_events() -> None:
    before = set(convert(document(STEPS[:3])).converted.batch.ids)
    after = set(convert(document()).converted.batch.ids)
    # The first end is not the last step's any more.
    assert len(before - after) == 1


def test_agents_below_are_agents_of_the_session() -> None:
    def below(*more: dict[str, Any]) -> dict[str, Any]:
        steps = [{"source": "user", "message": "look"}, *more]
        return {"trajectory_id": "t", "agent": {"name": "searcher"}, "steps": steps}

    found = convert(document(subagent_trajectories=[below(), below()]))
    assert {event["session_id"] for event in found.events} == {"s"}
    starts = {one["agent_id"]: one.get("parent_id") for one in found.of("agent_start")}
    assert starts == {"terminus": None, "searcher": "terminus", "searcher-3": "terminus"}
    assert found.converted.lines == 6


def test_copied_context_is_ignored() -> None:
    copied = {**STEPS[1], "is_copied_context": True}
    found = convert(document([copied, *STEPS[1:2]]))
    assert len(found.of("human_input")) == 1
    assert found.converted.ignored == 1


def test_the_session_is_named_by_the_document_else_the_file() -> None:
    unnamed = document(session_id=None)
    assert convert({**unnamed, "trajectory_id": "t"}).events[0]["session_id"] == "t"
    assert convert(unnamed, path="logs/run-7.json").events[0]["session_id"] == "run-7"
    with pytest.raises(Invalid):
        convert(unnamed)


def test_bad_steps_are_reported() -> None:
    bad: list[Any] = [7, {"source": "user", "timestamp": "today"}]
    found = convert(document([*bad, *STEPS]))
    assert [(one.line, one.error) for one in found.converted.errors] == [
        (1, "is not an object"),
        (2, "timestamp is not an RFC 3339 time"),
    ]
    assert len(found.of("human_input")) == 1


def test_a_document_that_was_cut_is_held_back() -> None:
    text = json.dumps(document()).encode()
    cut = told(text[:-20], form="atif")
    assert (cut.events, cut.converted.held_back, cut.converted.skipped) == ([], 1, 0)
    ended = told(text[:-20] + b"\n", form="atif")
    assert (ended.converted.held_back, ended.converted.skipped) == (0, 1)
