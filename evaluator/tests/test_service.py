"""`serve` answers as Watchpost expects: results, jobs to poll, errors that name the evaluator."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from kit.sessions import event, exports, tool
from watchpost_evaluator import (
    Assertion,
    Category,
    Evaluator,
    Number,
    Results,
    Score,
    Session,
    Skip,
    evaluator,
)
from watchpost_evaluator import service as service_module
from watchpost_evaluator.service import HEADER, Reply, Service


@evaluator("tools", version="3", result="number")
def tools(session: Session) -> Any:
    calls = session.tool_calls()
    if not calls:
        return Skip("no_tools")
    values = {
        "tools": Number(len(calls), "counted", unit="calls", passed=True, labels=["x"]),
        "mood": Category("calm", evidence=calls[0]),
        "polite": Assertion(False, "no greeting"),
    }
    return Results(values, "It used tools.")


@evaluator("tools", version="2", result="number")
async def old_tools(session: Session) -> Number:
    return Number(-1)


@evaluator("bad", version="1")
def bad(session: Session) -> Any:
    raise LookupError("no \x00 price")


@evaluator("wrong", version="1")
def wrong(session: Session) -> Any:
    return 0.5


EVERY: list[Evaluator] = [tools, old_tools, bad, wrong]


def body(*events: Any, **fields: Any) -> bytes:
    flat = [one for given in events for one in (given if isinstance(given, list) else [given])]
    return json.dumps({"session_id": "s", "events": flat or tool("a"), **fields}).encode()


def ask(name: str, content: bytes | None = None, **headers: str) -> Reply:
    return Service(EVERY).evaluate({HEADER: name, **headers}, content or body())


def test_the_results_of_a_session() -> None:
    reply = ask("tools@3")
    assert reply.status == 200
    assert reply.document == {
        "status": "done",
        "scores": {"tools": 1.0, "polite": 0.0},
        "reasoning": {"tools": "counted", "polite": "no greeting"},
        "results": [
            {
                "key": "tools",
                "kind": "number",
                "value": 1.0,
                "passed": True,
                "unit": "calls",
                "reasoning": "counted",
                "labels": ["x"],
            },
            {"key": "mood", "kind": "category", "value": "calm", "evidence": [1, 2]},
            {
                "key": "polite",
                "kind": "assertion",
                "value": False,
                "passed": False,
                "reasoning": "no greeting",
            },
        ],
        "summary": "It used tools.",
    }


def test_a_skip_has_no_values() -> None:
    assert ask("tools@3", body(event("agent_start"))).document == {
        "status": "done",
        "scores": {},
        "reasoning": {},
        "results": [],
        "summary": "skipped: no_tools",
    }


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("bad@1", "bad: LookupError: no \ufffd price"),
        ("wrong@1", "wrong: TypeError: wrong is 0.5 (float); return Score"),
        ("tools@4", "there is no evaluator tools@4 here, but bad@1, tools@2, tools@3, wrong@1"),
        ("none@1", "there is no evaluator none@1 here"),
        ("tools", "there is no evaluator tools here"),
        ("", "the header X-Watchpost-Evaluator does not say which of bad@1"),
    ],
)
def test_an_error_names_its_evaluator(name: str, error: str) -> None:
    reply = ask(name)
    assert (reply.status, reply.document["status"]) == (200, "error")
    assert reply.document["error"].startswith(error)


def test_the_header_decides_and_else_the_body() -> None:
    named = body(evaluator="tools", evaluator_version="3")
    assert ask("tools@2", named).document["scores"] == {"tools": -1.0}
    assert ask("", named).document["scores"]["tools"] == 1.0
    assert ask("bad").document["error"].startswith("bad: LookupError")
    assert Service([tools]).evaluate({}, body()).document["scores"]["tools"] == 1.0


@pytest.mark.parametrize(
    ("content", "status", "error"),
    [
        (b"{", 400, "the body is not JSON"),
        (b"\xff", 400, "the body is not JSON"),
        (b"[]", 422, "the body is no session: it is no object"),
        (b"{}", 422, "the session has no events"),
        (body(view="turns"), 422, "get large sessions as `cut`"),
        (body(next="/v1/x"), 422, "get large sessions as `cut`"),
    ],
)
def test_a_body_that_is_no_session_is_refused(content: bytes, status: int, error: str) -> None:
    reply = ask("tools@3", content)
    assert (reply.status, error in reply.document["error"]) == (status, True)


def test_a_long_run_becomes_a_job() -> None:
    go_on, runs = threading.Event(), []

    @evaluator("long", version="1")
    def long(session: Session) -> Score:
        runs.append(session.id)
        go_on.wait()
        return Score(1)

    service = Service([long], wait_secs=0.01)
    headers = {HEADER: "long@1", "Idempotency-Key": "run-1"}
    first = service.evaluate(headers, body())
    again = service.evaluate(headers, body())
    other = service.evaluate({**headers, "Idempotency-Key": "run-2"}, body())
    job_id = first.document["job_id"]
    assert first == again == Reply(202, {"job_id": job_id, "next_poll_secs": 2})
    assert other.document["job_id"] != job_id
    assert service.poll(job_id) == first
    go_on.set()
    service._wait_secs = 60
    done = service.evaluate(headers, body())
    assert done.document["scores"] == {"long": 1.0}
    assert service.poll(job_id) == done
    assert service.poll("other").status == 404
    assert runs == ["s", "s"]
    # The same run with events that came since is another request.
    assert service.evaluate(headers, body(event("error"))).status == 200
    assert len(runs) == 3


def test_the_newest_jobs_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_module, "_MOST_JOBS", 2)
    service = Service([tools])
    for number in range(5):
        service.evaluate({"Idempotency-Key": f"run-{number}"}, body())
    assert len(service._jobs) == 3


def test_functions_that_never_end_stop_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    end = threading.Event()

    @evaluator("stuck", version="1", timeout=0.01)
    def stuck(session: Session) -> Score:
        end.wait()
        return Score(1)

    monkeypatch.setattr(service_module, "_MOST_LATE", 1)
    service = Service([stuck])
    reply = service.evaluate({}, body())
    assert reply.document["error"] == "stuck: it took more than 0.01 s"
    refused = service.evaluate({}, body())
    assert (refused.status, refused.retry_after) == (503, 60)
    end.set()
    threads = [one for one in threading.enumerate() if one.name == "stuck@1"]
    for thread in threads:
        thread.join()
    assert service.evaluate({}, body()).status == 200


def test_a_recorded_session() -> None:
    document = ask("tools@3", json.dumps(exports()[0]).encode()).document
    assert document["scores"]["tools"] == 8
