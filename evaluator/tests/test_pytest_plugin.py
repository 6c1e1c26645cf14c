"""The fixtures are there wherever the kit is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kit.sessions import PROJECT, event, exports
from watchpost_evaluator import Score, Session, evaluator
from watchpost_evaluator.pytest_plugin import watchpost_evaluate, watchpost_session

_TESTS = """
from watchpost_evaluator import Skip, Text, evaluator

@evaluator("goal", version="1", result="text")
def goal(session):
    return Text(session.goal) if session.goal else Skip("no_goal")

def test_a_file(watchpost_session, watchpost_evaluate):
    assert watchpost_session("export.json").id == "airline-000-t0"
    assert watchpost_evaluate(goal, "export.json").value.startswith("You are")

def test_events(watchpost_evaluate):
    assert watchpost_evaluate(goal, [{"type": "agent_start"}]).reason == "no_goal"
"""

# pytest gives fixtures out as objects that know their function.
make = watchpost_session.__wrapped__()  # type: ignore[attr-defined]
evaluate = watchpost_evaluate.__wrapped__(make)  # type: ignore[attr-defined]


@evaluator("starts", version="1")
def starts(session: Session) -> Score:
    return Score(1 / session.count("agent_start"))


def test_a_session_of_events() -> None:
    outcome = evaluate(starts, [event("agent_start"), event("agent_start")])
    assert (outcome.status, outcome.value, outcome.passed) == ("done", 0.5, None)


def test_an_exception_is_an_outcome(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = evaluate(starts, make([event("agent_end")]))
    assert (outcome.status, outcome.value) == ("error", None)
    assert outcome.error == "ZeroDivisionError: division by zero"
    assert "starts@1 on session:" in capsys.readouterr().err


@pytest.mark.flow
def test_an_installed_kit_brings_its_fixtures(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", reason="there is no setuptools here to build with")
    sources, installed = tmp_path / "sources", tmp_path / "installed"
    ignored = shutil.ignore_patterns(".*", "build", "*.egg-info", "tests")
    shutil.copytree(PROJECT / "evaluator", sources, ignore=ignored)
    quiet = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
    install = [sys.executable, "-m", "pip", "install", *quiet, "--no-build-isolation", "--target"]
    subprocess.run([*install, installed, sources], check=True)
    work = tmp_path / "work"
    work.mkdir()
    (work / "export.json").write_text(json.dumps(exports()[0]))
    (work / "test_mine.py").write_text(_TESTS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=work,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
    )
    assert "2 passed" in done.stdout, done.stdout
