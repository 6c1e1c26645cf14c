"""`work` speaks the protocol of workers with a strict pool, and loses nothing when it is killed."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from kit.commands import Kit
from kit.pool import TOKEN, Pool
from kit.serving import running
from kit.sessions import exports
from watchpost_evaluator.connection import Target, exchange
from watchpost_evaluator.errors import Unreachable

MODULE = """
import asyncio, pathlib, threading, time
from watchpost_evaluator import *

@evaluator("tools", version="1", result="number", labels=["b", "a"])
def tools(session):
    calls = session.tool_calls()
    if not calls:
        return Skip("no_tools")
    return Results({
        "tools": Number(len(calls), "counted", unit="calls", passed=True, labels=["x"]),
        "ended": Assertion(session.outcome is not None, evidence=calls[0]),
        "mood": Category("calm"),
        "goal": Text(session.goal),
        "share": Score(0.5),
    }, "They were counted.")

@evaluator("bad", version="1")
def bad(session):
    return session.nothing

@evaluator("late", version="1", timeout=0.05)
async def late(session):
    await asyncio.sleep(60)

@evaluator("slow", version="1", result="assertion")
def slow(session):
    begun = pathlib.Path("begun")
    begun.write_text(begun.read_text() + "x" if begun.exists() else "x")
    while not pathlib.Path("go").exists():
        time.sleep(0.02)
    return Assertion(True) if session.id != "airline-000-t1" else Skip("not_this")
"""


@pytest.fixture
def pool() -> Pool:
    return Pool()


@pytest.fixture
def worker(kit: Kit, pool: Pool) -> Iterator[Kit]:
    """The kit in a folder with evaluators, and the variables of the pool."""
    (kit.folder / "evaluators.py").write_text(MODULE)
    with running(pool.answer) as url:
        kit.variables.update(WATCHPOST_URL=url, WATCHPOST_POOL_TOKEN=TOKEN)
        yield kit
    assert pool.faults == []


def wait_until(holds: Any) -> None:
    ends = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.02)


@pytest.mark.pythons
def test_everything_due_is_done_once(worker: Kit, pool: Pool) -> None:
    every = [pool.add(one, "tools@1", "bad@1", "late@1") for one in exports()[:12]]
    done = worker.run("work", "--once", "--concurrency", 3)
    assert done.returncode == 0, done.stderr
    assert pool.is_done
    assert done.stdout == "working for the pool: bad@1, late@1, slow@1, tools@1\n"
    assert done.stderr.count("tools@1 on airline-") == 12
    assert all(one.generation == 1 for one in every)
    runs = every[0].runs
    assert [runs[name]["status"] for name in runs] == ["succeeded", "failed", "timed_out"]
    assert runs["tools@1"]["summary"] == "They were counted."
    values = [
        (one["result_kind"], one["result_key"], one["numeric_value"], one["bool_value"])
        for one in runs["tools@1"]["results"]
    ]
    assert values == [
        ("metric", "tools", 8.0, True),
        ("assertion", "ended", None, True),
        ("category", "mood", None, None),
        ("text", "goal", None, None),
        ("score", "share", 0.5, None),
    ]
    assert runs["tools@1"]["results"][1]["evidence"] == [16, 17]
    assert runs["tools@1"]["results"][2]["text_value"] == "calm"
    [told] = pool.workers.values()
    assert told["sdk_version"] == "watchpost-evaluator 0.1.0"
    assert [one["result_kind"] for one in told["definitions"]] == [
        "score",
        "score",
        "assertion",
        "metric",
    ]
    assert runs["bad@1"]["error_message"].startswith("AttributeError: 'Session' object has no")
    assert runs["late@1"]["error_code"] == "eval_timeout"


def test_a_skip_is_part_of_the_plan(worker: Kit, pool: Pool) -> None:
    export = {**exports()[0], "events": exports()[0]["events"][:3]}
    skipped = pool.add(export, "tools@1")
    pool.disabled = ["bad"]
    disabled = pool.add(exports()[2], "tools@1", "bad@1")
    done = worker.run("work", "--once")
    assert done.returncode == 0, done.stderr
    assert skipped.runs == {"tools@1": {"skipped": "no_tools"}}
    assert disabled.runs["bad@1"] == {"skipped": "disabled_by_server"}
    assert disabled.runs["tools@1"]["status"] == "succeeded"
    assert "Watchpost has bad switched off" in done.stdout


def test_a_run_may_be_longer_than_its_lease(worker: Kit, pool: Pool) -> None:
    pool.lease_secs = 4
    other = next(one for one in exports() if one["session_id"] == "airline-000-t1")
    long, late_skip = pool.add(exports()[0], "slow@1"), pool.add(other, "slow@1")
    with worker.running("work", "--once") as process:
        wait_until(lambda: pool.asked.count("heartbeat") >= 12)
        (worker.folder / "go").touch()
        assert process.wait(60) == 0
    assert (long.generation, long.runs["slow@1"]["status"]) == (1, "succeeded")
    # The plan was made before the function said so.
    submitted = late_skip.runs["slow@1"]
    assert (submitted["status"], submitted["results"]) == ("succeeded", [])
    assert submitted["summary"] == "skipped: not_this"


def test_a_signal_lets_what_runs_finish(worker: Kit, pool: Pool) -> None:
    taken = pool.add(exports()[0], "slow@1")
    with worker.running("work", "--concurrency", 1) as process:
        wait_until((worker.folder / "begun").exists)
        other = pool.add(exports()[2], "slow@1")
        process.send_signal(signal.SIGTERM)
        # A worker that ends at once would end meanwhile.
        time.sleep(0.3)
        (worker.folder / "go").touch()
        assert process.wait(60) == 0
    assert taken.runs["slow@1"]["status"] == "succeeded"
    assert other.runs["slow@1"] is None


def test_a_killed_worker_loses_its_lease_and_another_takes_it(worker: Kit, pool: Pool) -> None:
    pool.lease_secs = 2
    due = pool.add(exports()[0], "slow@1", "tools@1")
    with worker.running("work") as process:
        wait_until((worker.folder / "begun").exists)
        process.kill()
        process.wait(60)
    (worker.folder / "go").touch()
    with worker.running("work") as process:
        wait_until(lambda: pool.is_done)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    assert due.generation >= 2
    assert {one["lease_generation"] for one in due.runs.values()} == {due.generation}


def test_a_lost_lease_is_not_submitted(worker: Kit, pool: Pool) -> None:
    pool.lease_secs = 2
    due = pool.add(exports()[0], "slow@1")
    with worker.running("work", "--once") as process:
        wait_until(lambda: "heartbeat" in pool.asked)
        due.worker, due.lease_ends = "another", time.monotonic() + 3600
        asked = pool.asked.count("heartbeat")
        wait_until(lambda: pool.asked.count("heartbeat") > asked)
        (worker.folder / "go").touch()
        assert process.wait(60) == 0
        assert process.stderr is not None
        assert "slow@1 on airline-000-t0: its lease was lost" in process.stderr.read()
    assert "result" not in pool.asked


def test_racing_workers_do_each_session_once(worker: Kit, pool: Pool) -> None:
    every = [pool.add(one, "tools@1") for one in exports()[:40]]
    with worker.running("work", "--once") as one, worker.running("work", "--once") as other:
        assert (one.wait(60), other.wait(60)) == (0, 0)
    assert pool.is_done
    assert {one.generation for one in every} == {1}


def test_faults_on_the_way_are_tried_again(worker: Kit, pool: Pool) -> None:
    due = pool.add(exports()[0], "tools@1")
    failing = {"register", "transcript", "definitions", "plan", "result", "claim"}
    lock = threading.Lock()

    def fail(name: str) -> None:
        with lock:
            is_first = name in failing
            failing.discard(name)
        if is_first:
            raise OSError("the connection is cut here")

    pool.before = fail
    with worker.running("work") as process:
        wait_until(lambda: pool.is_done)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    assert failing == set()
    assert due.generation == 1


def test_a_forgotten_worker_registers_again(worker: Kit, pool: Pool) -> None:
    with worker.running("work") as process:
        wait_until(lambda: "claim" in pool.asked)
        pool.workers.clear()
        due = pool.add(exports()[0], "tools@1")
        wait_until(lambda: pool.is_done)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    assert pool.asked.count("register") == 2
    assert due.runs["tools@1"]["status"] == "succeeded"


def test_a_session_that_is_too_large_delays_no_other(worker: Kit, pool: Pool) -> None:
    pool.lease_secs = 3600
    pool.add({**exports()[0], "too_large": True}, "tools@1")
    other = pool.add(exports()[2], "tools@1")
    done = worker.run("work", "--once")
    assert done.returncode == 0
    assert "of airline-000-t0 failed: transcript_too_large" in done.stderr
    assert other.runs["tools@1"]["status"] == "succeeded"


def test_functions_that_never_end_end_the_worker(worker: Kit, pool: Pool) -> None:
    stuck = "import threading\n" + MODULE.replace("await asyncio.sleep(60)", "stuck.wait()")
    source = stuck.replace("async def late", "def late") + "\nstuck = threading.Event()\n"
    (worker.folder / "evaluators.py").write_text(source)
    pool.add(exports()[0], "late@1")
    pool.add(exports()[1], "late@1")
    done = worker.run("work", "--concurrency", 1)
    assert done.returncode == 1
    assert "1 functions still run after their time and take every place" in done.stderr
    assert pool.asked.count("result") == 1


@pytest.mark.flow
def test_half_an_answer_is_asked_for_again() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(head)

        thread = threading.Thread(target=answer)
        thread.start()
        target = Target(f"http://127.0.0.1:{listening.getsockname()[1]}", "key")
        with pytest.raises(Unreachable, match="IncompleteRead"):
            exchange(target, "GET", "/v1/health")
        thread.join()


@pytest.mark.parametrize(
    ("variables", "arguments", "status", "problem"),
    [
        ({"WATCHPOST_POOL_TOKEN": "wpw_old"}, (), 3, "a new token of a pool ends the old one"),
        ({"WATCHPOST_POOL_TOKEN": ""}, (), 2, "no key: set WATCHPOST_POOL_TOKEN"),
        ({"WATCHPOST_URL": "http://127.0.0.1:1"}, ("--once",), 4, "cannot reach Watchpost"),
        ({}, ("--concurrency", 33), 2, "--concurrency is between 1 and 32"),
    ],
)
def test_what_is_wrong_ends_it(
    variables: dict[str, str],
    arguments: tuple[object, ...],
    status: int,
    problem: str,
    worker: Kit,
    pool: Pool,
) -> None:
    worker.variables.update(variables)
    done = worker.run("work", *arguments)
    assert (done.returncode, problem in done.stderr) == (status, True), done.stderr
