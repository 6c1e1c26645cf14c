"""The demonstration's events, and its checks, which have to notice errors."""

from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from statistics import fmean

import msgspec
import pytest
from rich.console import Console

from devstack.up import report
from devstack.up.api import Api, Row
from devstack.up.checks import run_checks
from devstack.up.dashboard import Board
from devstack.up.demo import Played
from devstack.up.expected import expected_scores, tool_failed
from devstack.up.figures import Figures, expected_figures
from devstack.up.oversight import Oversight, expected_failing_tools, expected_failure_rate
from devstack.up.recording import Recording, record
from devstack.up.trace import EXPECTED_EVENTS, Trace

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def recording() -> Recording:
    return record(NOW)


class Answers(Api):
    """An API that answers with fixed rows."""

    def __init__(self, rows: dict[str, list[Row]]) -> None:
        super().__init__("http://127.0.0.1:1", "unused")
        self._rows = rows

    def rows(self, resource: str, session_ids: Sequence[str], limit: int) -> Iterator[Row]:
        assert session_ids
        assert limit > 0
        return iter(self._rows[resource])


def perfect(recording: Recording) -> tuple[dict[str, list[Row]], list[Row]]:
    rows: dict[str, list[Row]] = {
        "events": [{"payload": deepcopy(event)} for event in recording.events],
        "sessions": [
            {"session_id": name, "event_count": len(recording.of_session(name))}
            for name in recording.session_ids
        ],
    }
    evaluations: list[Row] = [
        {
            "session_id": name,
            "status": "done",
            "scores": dict(expected_scores(recording.of_session(name))),
        }
        for name in recording.ended_session_ids
    ]
    return rows, evaluations


def overseen(recording: Recording, earlier: tuple[Row, ...] = ()) -> Oversight:
    """Returns the expected incident and run of the four hours before the recording's end."""
    window = {"from": "2026-11-20T08:00:00.000000Z", "to": "2026-11-20T12:00:00.000000Z"}
    run = {"status": "succeeded", "window_from": window["from"], "window_to": window["to"]}
    found = Oversight({"evidence": {"window": window}}, run, earlier=earlier)
    incident = {**(found.incident or {}), "breach_value": expected_failure_rate(recording, found)}
    findings = tuple(finding(*tool) for tool in expected_failing_tools(recording, found))
    return replace(found, incident=incident, findings=findings)


def finding(failures: int, calls: int, sessions: int) -> Row:
    numbers = {"failures": failures, "calls": calls, "failed_sessions": sessions}
    return {"failure_type": "tool_failure", "evidence": {"numbers": numbers}}


BOARD = Board(
    1,
    [("book", 2, 1), ("refund", 0, 1)],
    tuple(
        {"tool_name": tool, "error": error}
        for tool, error in (("refund", None), ("book", "x"), ("book", ""), ("book", "y"))
    ),
)


def failed(
    recording: Recording,
    rows: dict[str, list[Row]],
    evaluations: list[Row],
    figures: Figures | None = None,
    oversight: Oversight | None = None,
    traced: Sequence[str] = EXPECTED_EVENTS,
    board: Board = BOARD,
    unscored: Counter[str] | None = None,
) -> set[str]:
    figures = figures or expected_figures(recording)
    oversight = oversight or overseen(recording)
    trace = Trace("demo-otlp", 3, list(traced))
    accepted = len(recording.lines)
    played = Played(
        recording,
        accepted,
        0,
        tuple(evaluations),
        figures,
        oversight,
        trace,
        board,
        unscored or Counter(),
    )
    checks = run_checks(Answers(rows), played, scores=True)
    return {check.what for check in checks if not check.passed}


def test_the_recording_looks_like_agents_at_work(recording: Recording) -> None:
    assert len(recording.session_ids) == 72
    assert 2_500 <= len(recording.lines) <= 5_500
    assert len(recording.ended_session_ids) == 69
    agents = {event["agent_id"] for event in recording.events}
    assert len(agents) == 8
    environments = {event["environment"] for event in recording.events}
    assert environments == {"production", "staging", "development"}
    assert len(set(recording.lines)) == len(recording.lines)


def test_it_happened_in_order_and_just_now(recording: Recording) -> None:
    times = [datetime.fromisoformat(event["timestamp"]) for event in recording.events]
    assert times == sorted(times)
    assert times[-1] == NOW
    assert times[0] > NOW - timedelta(hours=4)
    assert [msgspec.json.decode(line) for line in recording.lines] == list(recording.events)


def test_every_run_has_sessions_of_its_own(recording: Recording) -> None:
    assert not set(recording.session_ids) & set(record(NOW).session_ids)


def test_scores_that_are_expected() -> None:
    start: Row = {"type": "agent_start", "agent_id": "root"}
    helper: Row = {"type": "agent_end", "agent_id": "helper", "outcome": "success"}
    assert expected_scores([start, helper]) == {
        "task_success": 0.0,
        "tool_reliability": 1.0,
        "turn_efficiency": 1.0,
    }
    work: list[Row] = [
        *({"type": "model_request", "agent_id": "root"} for _ in range(40)),
        {"type": "tool_result", "agent_id": "root", "error": "timeout"},
        *({"type": "tool_result", "agent_id": "root", "error": none} for none in ("", None, False)),
        {"type": "agent_end", "agent_id": "root", "outcome": "failed"},
        {"type": "agent_end", "agent_id": "root", "outcome": "done"},
    ]
    assert expected_scores([start, *work, helper]) == {
        "task_success": 1.0,
        "tool_reliability": 0.75,
        "turn_efficiency": 0.5,
    }


def test_checks_pass_when_all_is_right(recording: Recording) -> None:
    assert failed(recording, *perfect(recording)) == set()


def test_checks_notice_lost_doubled_and_changed_events(recording: Recording) -> None:
    rows, evaluations = perfect(recording)
    lost = {**rows, "events": rows["events"][1:]}
    assert failed(recording, lost, evaluations) == {"events stored", "events unchanged"}
    doubled = {**rows, "events": [*rows["events"], rows["events"][0]]}
    assert failed(recording, doubled, evaluations) == {"events stored"}
    rows["events"][5]["payload"]["type"] = "changed"
    assert failed(recording, rows, evaluations) == {"events unchanged"}


def test_checks_notice_wrong_sessions_and_evaluations(recording: Recording) -> None:
    rows, evaluations = perfect(recording)
    rows["sessions"][0]["event_count"] += 1
    evaluations[0]["scores"]["task_success"] -= 0.5
    evaluations[1]["status"] = "error"
    assert failed(recording, rows, evaluations) == {
        "events counted per session",
        "evaluated once each",
        "scores: task_success",
    }
    assert "sessions evaluated" in failed(recording, rows, evaluations[1:])
    assert "sessions evaluated" in failed(recording, rows, [*evaluations, evaluations[0]])


def test_checks_notice_wrong_figures(recording: Recording) -> None:
    right = expected_figures(recording)
    assert right.tools is not None
    name, failures, calls = right.tools[0]
    wrong = replace(
        right,
        calls=right.calls - 1,
        failed=right.failed + 1,
        p95_ms=right.p95_ms + 1,
        tools=[(name, failures, calls + 1), *right.tools[1:]],
        scores={**right.scores, "task_success": right.scores["task_success"] - 0.01},
    )
    assert failed(recording, *perfect(recording), wrong) == {
        "tool calls paired",
        "tool calls that failed",
        "latency of tool calls",
        "failures by tool, in SQL",
        "scores averaged",
    }


def test_a_deployment_without_sql_is_checked_without_it(recording: Recording) -> None:
    without = replace(expected_figures(recording), tools=None)
    assert failed(recording, *perfect(recording), without) == set()


def result(tool: str, session_id: str, *, error: str | None = None) -> Row:
    timestamp = "2026-11-20T11:00:00.000000Z"
    names = {"agent_id": "travel-booking-v2", "tool_name": tool, "session_id": session_id}
    return {"type": "tool_result", "timestamp": timestamp, "error": error, **names}


def test_the_required_findings_of_an_alert_and_an_audit() -> None:
    calls = [
        *(result("book", f"s-{number}", error="full") for number in (1, 2, 2)),
        *(result("book", "s-3") for _ in range(14)),
        *(result("refund", "s-4", error="late") for _ in range(3)),
        *(result("refund", "s-4") for _ in range(15)),
        *(result("search", "s-5", error="slow") for _ in range(2)),
    ]
    found = overseen(Recording(tuple(calls), ()))
    assert found.failure_rate == 8 / 37
    # Of 17 calls 3 are enough, of 18 they are not, and 2 never are.
    assert found.failing_tools == [(3, 17, 2)]
    late = {**result("book", "s-6"), "timestamp": "2026-11-20T12:00:00.000000Z"}
    earlier = {**result("book", "s-7"), "agent_id": "research"}
    more = overseen(Recording((*calls, late), ()), (earlier,))
    assert more.failure_rate == 8 / 37
    assert more.failing_tools == []


def test_checks_notice_what_alert_and_audit_get_wrong(recording: Recording) -> None:
    right = overseen(recording)
    assert right.incident is not None
    assert right.findings
    assert failed(recording, *perfect(recording), oversight=Oversight(None, None)) == {
        "incident of an alert",
        "audit",
    }
    wrong = replace(
        right,
        incident={**right.incident, "breach_value": 0.5},
        findings=(*right.findings[1:], finding(3, 5, 2)),
    )
    assert failed(recording, *perfect(recording), oversight=wrong) == {
        "incident of an alert",
        "tools that fail, by the audit",
    }


def test_an_event_of_the_trace_that_is_missing_is_noticed(recording: Recording) -> None:
    rows, evaluations = perfect(recording)
    lost = failed(recording, rows, evaluations, traced=EXPECTED_EVENTS[1:])
    assert lost == {"events of a trace by OTLP"}


def test_a_tile_that_shows_something_else_is_noticed(recording: Recording) -> None:
    wrong = replace(BOARD, failures=[("book", 1, 2), ("refund", 0, 1)])
    assert failed(recording, *perfect(recording), board=wrong) == {"a tile of the dashboard"}


def test_sessions_without_scores_are_told_with_the_reason(recording: Recording) -> None:
    rows, evaluations = perfect(recording)
    reasons = Counter({"the evaluator answered 401": 2})
    assert failed(recording, rows, evaluations, unscored=reasons) == {"sessions without scores"}
    printed = StringIO()
    console = Console(file=printed, width=200)
    figures, oversight = expected_figures(recording), overseen(recording)
    trace = Trace("demo-otlp", 3, [])
    report.print_scores(
        console,
        Played(recording, 0, 0, (), figures, oversight, trace, None, reasons),
    )
    assert "67 of 69 that ended are evaluated" in printed.getvalue()
    assert "2 without scores: the evaluator answered 401" in printed.getvalue()


def test_one_version_of_an_agent_is_worse_than_the_other(recording: Recording) -> None:
    def share(agent_id: str) -> float:
        results = [
            one
            for one in recording.events
            if one["type"] == "tool_result" and one["agent_id"] == agent_id
        ]
        return fmean(tool_failed(one) for one in results)

    assert share("travel-booking-v2") > 2 * share("travel-booking")
