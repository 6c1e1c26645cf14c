"""Sessions for tests: written by hand, and the recorded ones of an airline's support agent."""

from __future__ import annotations

import gzip
import json
import os
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from watchpost_evaluator import Session

PROJECT = Path(__file__).resolve().parents[3]
_START = {"type": "agent_start", "agent_id": "root", "goal": "Help"}


def event(event_type: str, **fields: Any) -> dict[str, Any]:
    """Returns an event as it is sent."""
    return {"type": event_type, "agent_id": "root", **fields}


def tool(name: str, given: Any = None, output: Any = "ok", **result: Any) -> list[dict[str, Any]]:
    """Returns the two events of a tool's call."""
    return [
        event("tool_use", tool_name=name, input=given),
        event("tool_result", tool_name=name, output=output, **result),
    ]


def said(content: str, **fields: Any) -> list[dict[str, Any]]:
    """Returns the two events of a model's call."""
    return [
        event("model_request", model="gpt-4o"),
        event("model_response", model="gpt-4o", content=content, **fields),
    ]


def session(*events: Any, outcome: str | None = None) -> Session:
    """Returns a session of these events, or lists of them, between a start and an end."""
    flat = [one for given in events for one in (given if isinstance(given, list) else [given])]
    end = [] if outcome is None else [event("agent_end", outcome=outcome)]
    return Session({"session_id": "s-1", "events": [_START, *flat, *end]})


@cache
def exports() -> tuple[dict[str, Any], ...]:
    """Returns the recorded sessions as `GET /v1/sessions/{id}/export?format=json` has them."""
    shared = Path(os.environ.get("WATCHPOST_SHARED") or PROJECT.parent / "shared")
    recording = shared / "data" / "airline-agent" / "events.ndjson.gz"
    if not recording.exists():
        reason = f"no recording in {recording.parent}: set WATCHPOST_SHARED"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    found: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for number, line in enumerate(gzip.decompress(recording.read_bytes()).splitlines(), 1):
        payload = json.loads(line)
        found[payload["session_id"]].append(
            {
                "id": number,
                "ts": payload["timestamp"],
                "event_type": payload["type"],
                "payload": payload,
            }
        )
    return tuple(_export(session_id, events) for session_id, events in found.items())


@cache
def recorded() -> tuple[Session, ...]:
    """Returns the recorded sessions."""
    return tuple(Session(export) for export in exports())


def _export(session_id: str, events: list[dict[str, Any]]) -> dict[str, Any]:
    ends = [one["ts"] for one in events if one["event_type"] == "agent_end"]
    return {
        "schema_version": "1",
        "session_id": session_id,
        "agent_id": events[0]["payload"]["agent_id"],
        "environment": events[0]["payload"]["environment"],
        "started_at": events[0]["ts"],
        "ended_at": max(ends, default=None),
        "events": events,
    }
