"""The kit of `evaluator/`, installed from its wheel, and a whole deployment that it scores for."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.flows.api import Api, batches, eventually
from tests.support.airline import Airline
from tests.support.deployment import running_deployment
from tests.support.evaluator import running_evaluator
from tests.support.markdown import PROJECT

pytestmark = [
    pytest.mark.flow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not (PROJECT / ".git").exists(), reason="needs a checkout"),
]

TOKEN = "kit-token"
EVALUATORS = """
import time
from watchpost_evaluator import *

@evaluator("greeted", version="1", result="assertion")
def greeted(session):
    if session.goal == "slow":
        time.sleep(6)  # longer than a call waits, so Watchpost polls
    if session.goal == "broken":
        raise RuntimeError("no such price")
    hello = session.find("(?i)hello", role="assistant")
    return Results({"greeted": Assertion(bool(hello), "said hello", evidence=hello)}, "Polite.")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the evaluators, and an environment of Python with the kit alone."""
    folder = tmp_path_factory.mktemp("kit")
    (folder / "evaluators.py").write_text(EVALUATORS)
    subprocess.run([PROJECT / "bin/evaluator-wheel", folder / "built"], check=True)
    [wheel] = (folder / "built").iterdir()
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    install: list[str | Path] = [folder / "venv/bin/pip", "install", "--quiet", "--no-index", wheel]
    subprocess.run(install, check=True)
    return folder


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[str]:
    """The URL of the evaluators."""
    command = ["serve", "--port", "0", "--token-env", "KIT_TOKEN"]
    with subprocess.Popen(
        [folder / "venv/bin/watchpost-evaluator", *command],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "KIT_TOKEN": TOKEN},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        match = re.search(r"http://\S+", process.stdout.readline())
        assert match is not None
        yield match[0]
        process.terminate()
        assert process.wait(30) == 0


@pytest.fixture(scope="module")
def api(served: str) -> Iterator[Api]:
    """A client of a deployment that calls them."""
    settings = {"EVALUATOR_ENDPOINT": served, "EVALUATOR_TOKEN": TOKEN}
    with running_evaluator() as unused, running_deployment(unused, **settings) as running:
        yield Api(int(running.environ["PORT"]), running.admin_key)


def events(goal: str) -> list[bytes]:
    """Returns a session whose id is its goal."""
    base = {"session_id": goal, "timestamp": "2026-11-22T08:00:00Z"}
    return [
        json.dumps({**base, **event}).encode()
        for event in (
            {"type": "agent_start", "goal": goal},
            {"type": "model_response", "content": [{"type": "text", "text": "Hello!"}]},
            {"type": "agent_end", "outcome": "success"},
        )
    ]


def tries(api: Api, folder: Path, *arguments: str) -> list[dict[str, Any]]:
    """Returns what `try` says of sessions of the deployment."""
    done = subprocess.run(
        [folder / "venv/bin/watchpost-evaluator", "try", "--json", *arguments],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "WATCHPOST_URL": f"http://127.0.0.1:{api.port}",
            "WATCHPOST_KEY": api.key,
        },
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_sessions_are_scored_and_tried_alike(api: Api, folder: Path) -> None:
    goals = ("weather", "slow", "broken")
    api.deliver([line for goal in goals for line in events(goal)])
    scored = partial(api.rows, "evaluations")
    eventually(60, "three evaluations", lambda: len(list(scored())) == 3)
    rows = {row["session_id"]: row for row in scored()}
    for goal in ("weather", "slow"):
        row = rows[goal]
        assert (row["status"], row["scores"], row["summary"]) == ("done", {"greeted": 1}, "Polite.")
        assert row["reasoning"] == {"greeted": "said hello"}
    assert rows["broken"]["status"] == "error"
    assert rows["broken"]["error"] == "greeted: RuntimeError: no such price"
    [tried] = tries(api, folder, "--session", "weather")
    [answer] = [row["id"] for row in api.export("weather") if row["event_type"] == "model_response"]
    [result] = tried["results"]
    assert (result["value"], result["reasoning"], result["evidence"]) == (
        True,
        "said hello",
        [answer],
    )


def test_the_templates_run_over_recorded_sessions(api: Api, folder: Path, airline: Airline) -> None:
    for batch in batches(airline.recent().lines):
        api.deliver(batch)
    sessions = sorted(airline.labels)
    stored = partial(api.rows, "sessions", agent_id="airline-support")
    eventually(60, "all sessions", lambda: sum(r["event_count"] for r in stored()) == 13_007)
    told = tries(api, folder, "watchpost_evaluator.templates", "--session", *sessions)
    assert len(told) == 12 * len(sessions) == 2400
    assert {row["status"] for row in told} == {"done", "skipped"}
    results = {(row["session_id"], row["evaluator"]): row["results"] for row in told}
    for session_id, label in airline.labels.items():
        [reached] = results[session_id, "goal_reached"] or [{"value": None}]
        # 10 sessions have no end.
        assert reached["value"] == (label["reward"] == 1 if label["ended"] else None), session_id
