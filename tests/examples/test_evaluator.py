"""The example evaluator: its scores, and the contract over HTTP."""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from devstack.ports import free_port
from examples.evaluator import evaluate
from shared.foundation.deployment.runtime import Runtime
from tests.support import markdown
from tests.support.airline import Airline
from tests.support.evaluator import running_evaluator
from tests.support.jobs import Bench
from tests.support.processes import wait_until
from tests.support.runtime import Org

_SCRIPT = markdown.PROJECT / "examples" / "evaluator.py"

Event = dict[str, Any]


def eval_request(*payloads: Event) -> dict[str, Any]:
    events = [
        {"id": number, "ts": "2026-11-02T10:00:00.000000Z", "event_type": p["type"], "payload": p}
        for number, p in enumerate(payloads)
    ]
    return {"schema_version": "1", "session_id": "s", "events": events, "unknown": True}


def scores(*payloads: Event) -> dict[str, float]:
    answer = evaluate(eval_request(*payloads))
    assert set(answer) == {"scores", "reasoning", "summary"}
    assert set(answer["reasoning"]) == set(answer["scores"])
    found: dict[str, float] = answer["scores"]
    return found


def start(agent: str = "main") -> Event:
    return {"type": "agent_start", "agent_id": agent}


def end(outcome: object, agent: str = "main") -> Event:
    return {"type": "agent_end", "agent_id": agent, "outcome": outcome}


@pytest.mark.parametrize(
    ("payloads", "score"),
    [
        ([start(), end("success")], 1.0),
        ([start(), end("completed")], 1.0),
        ([start(), end("ok")], 1.0),
        ([start(), end("done")], 1.0),
        ([start(), end("failed")], 0.0),
        ([start(), end(None)], 0.0),
        ([start(), end(["success"])], 0.0),
        ([start()], 0.0),
        ([start(), end("success"), end("failed")], 0.0),
        ([start(), end("failed"), end("success")], 1.0),
        ([start("a"), start("b"), end("failed", "a"), end("success", "b")], 0.0),
        ([{"type": "tool_use", "agent_id": "b"}, start("a"), end("success", "a")], 1.0),
        ([{"type": "tool_use", "agent_id": "b"}, end("success", "b")], 1.0),
        ([{"type": "tool_use"}, {"type": "agent_end", "outcome": "ok"}], 1.0),
        ([], 0.0),
    ],
)
def test_task_success_is_the_root_agents_last_word(payloads: list[Event], score: float) -> None:
    assert scores(*payloads)["task_success"] == score


def test_tool_reliability_is_the_share_of_results_without_an_error() -> None:
    none: tuple[object, ...] = (None, False, "")
    some: tuple[object, ...] = ("e", True, {}, 0)
    fine: list[Event] = [
        {"type": "tool_result"},
        *({"type": "tool_result", "error": error} for error in none),
    ]
    bad: list[Event] = [{"type": "tool_result", "tool_name": "t", "error": error} for error in some]
    assert scores(*fine)["tool_reliability"] == 1.0
    assert scores(*fine, *bad)["tool_reliability"] == 0.5
    assert scores(*bad)["tool_reliability"] == 0.0
    assert scores(start())["tool_reliability"] == 1.0


@pytest.mark.parametrize(("turns", "score"), [(0, 1.0), (1, 1.0), (20, 1.0), (40, 0.5), (80, 0.25)])
def test_turn_efficiency_falls_beyond_twenty_requests(turns: int, score: float) -> None:
    payloads: list[Event] = [{"type": "model_request"}] * turns
    assert scores(start(), *payloads)["turn_efficiency"] == score


def test_the_recording_scores_as_its_labels_say(airline: Airline) -> None:
    sessions: dict[str, list[Event]] = {}
    for line in airline.lines:
        payload = json.loads(line)
        sessions.setdefault(payload["session_id"], []).append(payload)
    for payloads in sessions.values():
        payloads.sort(key=lambda payload: str(payload["timestamp"]))
    ended = sum(any(p["type"] == "agent_end" for p in payloads) for payloads in sessions.values())
    found = [scores(*payloads) for payloads in sessions.values()]
    assert (len(found), ended) == (200, 190)
    assert 0 < sum(one["task_success"] for one in found) <= ended
    assert all(0.0 <= value <= 1.0 for one in found for value in one.values())


@contextmanager
def serving(*options: str, token: str | None = None) -> Iterator[str]:
    """Runs the example in its own process and yields its URL."""
    environ = {name: value for name, value in os.environ.items() if name != "EVALUATOR_TOKEN"}
    if token is not None:
        environ["EVALUATOR_TOKEN"] = token
    with subprocess.Popen(
        [sys.executable, str(_SCRIPT), "--port", "0", *options],
        stdout=subprocess.PIPE,
        text=True,
        env=environ,
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()


def call(url: str, body: object = None, **headers: str) -> tuple[int, dict[str, Any]]:
    data = None if body is None else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, data=data, headers=named)  # noqa: S310 loopback only
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 loopback only
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def is_healthy(url: str) -> bool:
    try:
        return call(f"{url}/health")[0] == 200
    except urllib.error.URLError:
        return False  # it does not listen yet


@pytest.mark.flow
def test_a_synchronous_delivery_is_answered_with_scores() -> None:
    with serving("--mode", "sync") as url:
        assert call(f"{url}/health") == (200, {"status": "ok"})
        assert call(f"{url}/config") == (200, {"inactivity_timeout_secs": 0})
        request = eval_request(start(), end("success"))
        assert call(f"{url}/evaluate", request) == (200, evaluate(request))


@pytest.mark.flow
def test_an_asynchronous_delivery_takes_its_time() -> None:
    with serving("--mode", "async", "--delay-ms", "60000") as url:
        assert call(f"{url}/evaluate", eval_request(start()), Idempotency_Key="a/b")[0] == 202
        assert call(f"{url}/evaluate/a%2Fb")[0] == 202


@pytest.mark.flow
def test_an_asynchronous_delivery_is_polled() -> None:
    with serving("--mode", "async", "--delay-ms", "300") as url:
        request = eval_request(start(), end("success"))
        status, job = call(f"{url}/evaluate", request, Idempotency_Key="a/b")
        assert (status, job["next_poll_secs"]) == (202, 1.0)
        wait_until(lambda: call(f"{url}/evaluate/a%2Fb")[0] == 200)
        assert call(f"{url}/evaluate/a%2Fb") == (200, evaluate(request))
        # The same delivery again is the same job, which has been ready for a while.
        call(f"{url}/evaluate", request, Idempotency_Key="a/b")
        assert call(f"{url}/evaluate/a%2Fb")[0] == 200
        assert call(f"{url}/evaluate/unknown")[0] == 404


@pytest.mark.flow
def test_the_evaluator_of_the_document_answers_with_a_score(tmp_path: Path) -> None:
    blocks = markdown.blocks((markdown.PROJECT / "docs/use/evaluator.md").read_text())
    [text] = [block.text for block in blocks if block.language == "python"]
    assert text.count("9000") == 1
    port = free_port()
    script = tmp_path / "evaluator.py"
    script.write_text(text.replace("9000", str(port)))
    url = f"http://127.0.0.1:{port}"
    with subprocess.Popen([sys.executable, str(script)], stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: is_healthy(url))
            assert call(f"{url}/config")[0] == 404
            request = eval_request({"type": "error"}, end("failed"))
            assert call(f"{url}/evaluate", request) == (
                200,
                {"scores": {"calm": 0.5}, "reasoning": {"calm": "1 errors among 2 events"}},
            )
        finally:
            process.terminate()


@pytest.mark.flow
def test_mixed_answers_every_other_job_later() -> None:
    with serving() as url:
        statuses = [
            call(f"{url}/evaluate", eval_request(start()), Idempotency_Key=str(number))[0]
            for number in range(40)
        ]
        assert set(statuses) == {200, 202}


@pytest.mark.flow
def test_with_a_token_only_health_is_open() -> None:
    with serving(token="t0ken") as url:
        assert call(f"{url}/health")[0] == 200
        for path, body in (("/config", None), ("/evaluate", {}), ("/evaluate/x", None)):
            assert call(url + path, body)[0] == 401
            assert call(url + path, body, Authorization="Bearer wrong")[0] == 401
            assert call(url + path, body, Authorization="Bearer t0ken")[0] != 401


@pytest.mark.flow
@pytest.mark.parametrize("body", [[], {}, {"events": [{"payload": "x"}]}, "x", 5])
def test_an_invalid_request_is_refused(body: object) -> None:
    with serving() as url:
        assert call(f"{url}/evaluate", body)[0] == 422
        assert call(f"{url}/elsewhere", body)[0] == 404
        assert call(f"{url}/elsewhere")[0] == 404


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_the_platform_understands_it(
    runtime: Runtime, org: Org, mode: str, request: pytest.FixtureRequest
) -> None:
    with serving("--mode", mode, token="t0ken") as url, running_evaluator() as unused:
        bench = Bench(runtime, org, unused)
        request.addfinalizer(bench.clean_up)
        bench.configure(evaluator_endpoint=url, evaluator_token="t0ken")
        bench.enqueue("s/1")
        bench.run()
        if mode == "async":
            assert bench.job()["status"] == "polling"
            bench.run_later()
    result = bench.result()
    assert (result.status, result.error) == ("done", None)
    assert result.scores == {
        "task_success": 0.0,
        "tool_reliability": 1.0,
        "turn_efficiency": 1.0,
    }
    assert set(result.reasoning or {}) == set(result.scores)
    assert result.summary
