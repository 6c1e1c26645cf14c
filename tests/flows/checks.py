"""Checks of the stored airline recording: every event and every session exactly once."""

import http.client
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from tests.flows.api import Api, eventually

EVENTS = 13_007
SESSIONS = 200


def wait_for_results(api: Api, seconds: float, sessions: int = SESSIONS) -> float:
    """Waits until this many sessions are evaluated and returns the seconds."""

    def evaluated() -> bool:
        # A program that was killed a moment ago may still be starting.
        try:
            status, body = api.request("GET", f"/evaluations?limit={sessions}")
        except (OSError, http.client.HTTPException):
            return False
        assert status in (200, 503), body
        return status == 200 and len(json.loads(body)["evaluations"]) == sessions

    return eventually(seconds, f"{sessions} sessions evaluated", evaluated, pause=0.5)


def require_every_event_once(api: Api, lines: Sequence[bytes]) -> None:
    """Checks that GET /events and the exports page through exactly the sent events."""
    events = list(api.rows("events", limit=1000))
    assert len(events) == len(lines)
    assert len({event["id"] for event in events}) == len(lines)
    moments = [event["ts"] for event in events]
    assert moments == sorted(moments, reverse=True)
    sent: dict[str, list[Any]] = defaultdict(list)
    for line in lines:
        event = json.loads(line)
        sent[event["session_id"]].append(event)
    for session_id, expected in sent.items():
        assert [row["payload"] for row in api.export(session_id)] == expected


def require_every_session_once(api: Api, lines: Sequence[bytes]) -> None:
    """Checks that GET /sessions pages through exactly the sent sessions, with their counts."""
    counts = Counter(json.loads(line)["session_id"] for line in lines)
    listed = {row["session_id"]: row["event_count"] for row in api.rows("sessions", limit=200)}
    assert listed == counts
    assert len(list(api.rows("sessions", limit=7))) == SESSIONS


def require_every_session_evaluated_once(api: Api, may_end_in: str | None = None) -> None:
    """Checks that every session has one result and no job is left.

    All results are done. With `may_end_in` some may be errors with that text.
    """
    rows = list(api.rows("evaluations", limit=200))
    results = Counter(row["session_id"] for row in rows)
    assert len(results) == SESSIONS
    assert set(results.values()) == {1}
    failed = [row["error"] for row in rows if row["status"] != "done"]
    assert all(may_end_in and may_end_in in error for error in failed), failed
    # A result is readable a moment before its job is done.
    eventually(30, "no job left", lambda: api.get("/evaluation-jobs", limit=500)["jobs"] == [])
