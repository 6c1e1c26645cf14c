"""The example evaluator's scores, computed independently from the sent events.

This does not share code with `examples/evaluator.py` on purpose: it would share its mistakes.
"""

from collections.abc import Sequence

from devstack.up.script import Event

_SUCCESS = {"success", "completed", "ok", "done"}


def expected_scores(events: Sequence[Event]) -> dict[str, float]:
    """Returns the three scores of one session, from its events in order."""
    results = [event for event in events if event["type"] == "tool_result"]
    failed = [event for event in results if tool_failed(event)]
    requests = [event for event in events if event["type"] == "model_request"]
    root = next((e["agent_id"] for e in events if e["type"] == "agent_start"), None)
    ends = [e for e in events if e["type"] == "agent_end" and e["agent_id"] == root]
    return {
        "task_success": 1.0 if ends and ends[-1].get("outcome") in _SUCCESS else 0.0,
        "tool_reliability": 1.0 - len(failed) / len(results) if results else 1.0,
        "turn_efficiency": min(1.0, 20 / len(requests)) if requests else 1.0,
    }


def tool_failed(result: Event) -> bool:
    """Returns whether a tool failed. Only null, false and an empty `error` mean success."""
    error = result.get("error")
    return error is not None and error is not False and error != ""
