"""The collector of `collector/` and a whole deployment: what lies in files is stored once."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest

from tests.flows.api import Api, eventually
from tests.flows.checks import require_every_event_once
from tests.support.deployment import running_deployment
from tests.support.evaluator import running_evaluator
from tests.support.markdown import PROJECT

pytestmark = [pytest.mark.flow, pytest.mark.timeout(300)]

SEED = random.randrange(10**6)
FILES, LINES_EACH = 60, 20
CLAUDE_SESSION = "5b1f0c52-7a3e-4a57-9d0e-2f4c6a1e9b30"


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    """A client with the admin key of one deployment. The first test wants it empty."""
    with running_evaluator() as evaluator, running_deployment(evaluator) as running:
        yield Api(int(running.environ["PORT"]), running.admin_key)


@pytest.fixture
def environment(api: Api, tmp_path: Path) -> Mapping[str, str]:
    """The collector's variables, with a home folder of its own."""
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(PROJECT / "collector"),
        "HOME": str(tmp_path),
        "WATCHPOST_URL": f"http://127.0.0.1:{api.port}",
        "WATCHPOST_KEY": api.key,
    }


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "watchpost_collect", *map(str, arguments)]


def event(number: int) -> bytes:
    moment = f"2026-11-22T08:{number // 60 % 60:02}:{number % 60:02}.{number:06}Z"
    fields = {"session_id": f"s-{number % 7}", "type": "note", "timestamp": moment}
    return json.dumps({**fields, "number": number}).encode()


def fill(spool: Path) -> list[bytes]:
    """Writes files of events with a bad line in each, and returns the good lines."""
    spool.mkdir()
    lines = [event(number) for number in range(FILES * LINES_EACH)]
    for start in range(0, len(lines), LINES_EACH):
        of_file = [*lines[start : start + LINES_EACH], b'{"session_id":"bad"}']
        (spool / f"{start:05}.jsonl").write_bytes(b"\n".join(of_file) + b"\n")
    return lines


def test_events_are_stored_once_however_often_the_collector_is_killed(
    api: Api, environment: Mapping[str, str], tmp_path: Path
) -> None:
    chance = random.Random(SEED)
    spool = tmp_path / "spool"
    lines = fill(spool)
    kills = 0
    while any(spool.glob("*.jsonl")):
        with subprocess.Popen(
            command("watch", "--once", "--events", spool),
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        ) as running:
            assert running.stdout is not None
            for _ in range(chance.randint(1, FILES // 4)):
                running.stdout.readline()
            time.sleep(chance.uniform(0, 0.01))
            running.kill()
            running.communicate()
        kills += running.returncode == -signal.SIGKILL
    assert kills >= 3, SEED
    eventually(30, "all events", lambda: len(list(api.rows("events", limit=1000))) == len(lines))
    require_every_event_once(api, lines)
    for path in (spool / "rejected").glob("*.jsonl"):
        # A kill before the removal of a file may reject its bad line twice.
        assert set(path.read_bytes().splitlines()) == {b'{"session_id":"bad"}'}
    assert len(list((spool / "rejected").glob("*.jsonl"))) == FILES


def test_transcripts_of_claude_code_are_sessions(
    api: Api, environment: Mapping[str, str], tmp_path: Path
) -> None:
    common = {"sessionId": CLAUDE_SESSION, "type": "user", "uuid": "u1"}
    prompt = {
        **common,
        "timestamp": "2026-11-18T09:15:00.101Z",
        "message": {"role": "user", "content": "Why does the search find nothing?"},
    }
    folder = tmp_path / ".claude" / "projects" / "notes-app"
    folder.mkdir(parents=True)
    (folder / f"{CLAUDE_SESSION}.jsonl").write_text(json.dumps(prompt) + "\n")
    checked = subprocess.run(command("doctor"), env=environment, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
    for accepted in (2, 0):  # the second run finds nothing new
        done = subprocess.run(
            command("watch", "--once", "--claude", "--environment", "laptop"),
            env=environment,
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert f", {accepted} accepted, 0 skipped, 0 left" in done.stdout.splitlines()[-1]
    named = {"session_id": CLAUDE_SESSION}
    eventually(30, "the session", lambda: list(api.rows("sessions", **named)))
    [session] = api.rows("sessions", **named)
    assert (session["agent_id"], session["environment"]) == ("claude-code", "laptop")
    types = [row["event_type"] for row in api.export(CLAUDE_SESSION)]
    assert types == ["agent_start", "human_input"]


@pytest.mark.skipif(not (PROJECT / ".git").exists(), reason="needs a checkout")
def test_the_wheel_alone_imports_a_transcript(
    api: Api, environment: Mapping[str, str], tmp_path: Path
) -> None:
    """As a user installs it: in an empty environment, outside the checkout."""
    built = tmp_path / "built"
    subprocess.run([PROJECT / "bin/collector-wheel", built], check=True)
    [wheel] = built.iterdir()
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    install = [str(venv / "bin/pip"), "install", "--quiet", "--no-index", str(wheel)]
    subprocess.run(install, check=True, cwd=tmp_path)
    transcript = tmp_path / "wheel-1.jsonl"
    words = {"role": "user", "content": "Why?"}
    line = {"type": "user", "uuid": "u", "sessionId": "wheel-1", "message": words}
    transcript.write_text(json.dumps({**line, "timestamp": "2026-11-22T08:00:00Z"}) + "\n")
    done = subprocess.run(
        [venv / "bin/watchpost-collect", "import", transcript],
        env={name: value for name, value in environment.items() if name != "PYTHONPATH"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    sessions = partial(api.rows, "sessions", session_id="wheel-1")
    eventually(30, "the session", lambda: bool(list(sessions())))
