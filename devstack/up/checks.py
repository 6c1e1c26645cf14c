"""Compares the service's answers with the events that the demonstration sent."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from devstack.up.api import Api, Row
from devstack.up.demo import Played
from devstack.up.expected import expected_scores
from devstack.up.figures import expected_figures
from devstack.up.oversight import expected_failing_tools, expected_failure_rate
from devstack.up.trace import EXPECTED_EVENTS

_EVENTS_A_PAGE = 1000
_SESSIONS_A_PAGE = 200


@dataclass(frozen=True)
class Check:
    """One comparison, for people: its subject, and the difference if there is one."""

    what: str
    difference: str | None

    @property
    def passed(self) -> bool:
        """Whether there is no difference."""
        return self.difference is None


def run_checks(api: Api, played: Played, *, scores: bool) -> list[Check]:
    """Runs all comparisons. `scores` False leaves out those that only fit the example evaluator."""
    sent = played.recording
    events = list(api.rows("events", sent.session_ids, _EVENTS_A_PAGE))
    sessions = list(api.rows("sessions", sent.session_ids, _SESSIONS_A_PAGE))
    checks = [
        _equal("events accepted", len(sent.lines), played.accepted),
        _equal("events skipped", 0, played.skipped),
        _equal("events stored", len(sent.lines), len(events)),
        _equal("events unchanged", len(sent.lines), _unchanged(sent.lines, events)),
        _equal("sessions", len(sent.session_ids), len(sessions)),
        _equal("events counted per session", _event_counts(sent.events), _totals(sessions)),
        _equal("sessions evaluated", len(sent.ended_session_ids), len(played.evaluations)),
        _equal("sessions without scores", {}, dict(played.failures)),
        _equal("evaluated once each", sorted(sent.ended_session_ids), _evaluated(played)),
    ]
    checks += _figure_checks(played, scores=scores)
    checks += _oversight_checks(played)
    if played.board is not None:
        board = played.board
        checks.append(_equal("a tile of the dashboard", board.expected_failures, board.failures))
    checks.append(_equal("events of a trace by OTLP", EXPECTED_EVENTS, played.trace.event_types))
    if scores:
        checks += _score_checks(played)
    return checks


def _equal(what: str, sent: object, got: object) -> Check:
    if sent == got:
        count = f": {got}" if isinstance(got, int) else ""
        return Check(f"{what}{count}", None)
    return Check(what, f"sent {_short(sent)}, got {_short(got)}")


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 200 else f"{text[:200]} ..."


def _event_counts(events: Sequence[Row]) -> dict[str, int]:
    return dict(Counter(event["session_id"] for event in events))


def _totals(sessions: Sequence[Row]) -> dict[str, int]:
    return {session["session_id"]: session["event_count"] for session in sessions}


def _unchanged(lines: Sequence[bytes], events: Sequence[Row]) -> int:
    """Counts the sent events that came back with the payload that was sent."""
    sent = Counter(_canonical(msgspec.json.decode(line)) for line in lines)
    got = Counter(_canonical(event["payload"]) for event in events)
    return (sent & got).total()


def _canonical(payload: object) -> bytes:
    return msgspec.json.encode(payload, order="sorted")


def _evaluated(played: Played) -> list[str]:
    return sorted(row["session_id"] for row in played.evaluations if row["status"] == "done")


def _figure_checks(played: Played, *, scores: bool) -> list[Check]:
    wanted, got = expected_figures(played.recording), played.figures
    checks = [
        _equal("tool calls paired", wanted.calls, got.calls),
        _equal("tool calls that failed", wanted.failed, got.failed),
        _near(
            "latency of tool calls",
            {"p50": wanted.p50_ms, "p95": wanted.p95_ms},
            {"p50": got.p50_ms, "p95": got.p95_ms},
        ),
    ]
    if got.tools is not None:
        checks.append(_equal("failures by tool, in SQL", wanted.tools, got.tools))
    if scores:
        checks.append(_near("scores averaged", wanted.scores, got.scores))
    return checks


def _oversight_checks(played: Played) -> list[Check]:
    sent, got = played.recording, played.oversight
    rate, told = expected_failure_rate(sent, got), got.failure_rate
    wrong_rate = f"expected {rate}, got {told}"
    status = "no run" if got.run is None else got.run["status"]
    return [
        Check("incident of an alert", None if _close(rate, told) else wrong_rate),
        _equal("audit", "succeeded", status),
        _equal(
            "tools that fail, by the audit", expected_failing_tools(sent, got), got.failing_tools
        ),
    ]


def _near(what: str, wanted: dict[str, float], got: dict[str, float]) -> Check:
    near = all(_close(wanted.get(name), got.get(name)) for name in wanted | got)
    return Check(what, None if near else f"expected {_short(wanted)}, got {_short(got)}")


def _score_checks(played: Played) -> list[Check]:
    wrong: dict[str, list[str]] = {}
    names: set[str] = set()
    for row in played.evaluations:
        wanted = expected_scores(played.recording.of_session(row["session_id"]))
        got = row["scores"] or {}
        for name in wanted | got:
            names.add(name)
            if not _close(wanted.get(name), got.get(name)):
                text = f"{row['session_id']}: expected {wanted.get(name)}, got {got.get(name)}"
                wrong.setdefault(name, []).append(text)
    return [
        Check(f"scores: {name}", _short("; ".join(wrong[name])) if name in wrong else None)
        for name in sorted(names)
    ]


def _close(wanted: float | None, got: float | None) -> bool:
    return wanted is not None and got is not None and math.isclose(wanted, got, abs_tol=1e-9)
