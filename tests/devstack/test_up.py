"""`bin/up` itself, with everything that it starts."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from devstack.lock import DirectoryLock
from devstack.ports import free_port
from devstack.processes import end, leftovers
from devstack.state import StateFile
from tests.support.stack import stack_directory

pytestmark = [pytest.mark.flow, pytest.mark.timeout(900)]

# Variables of this machine that would influence the test.
_CLEAN = {
    name: value
    for name, value in os.environ.items()
    if not name.endswith(("_URL", "_KEY")) and not name.startswith("EVALUATOR_")
}


@pytest.fixture
def directory() -> Iterator[Path]:
    with stack_directory() as made:
        yield made
        end(leftovers(made, StateFile(made).read()))
        lock = DirectoryLock(made)
        lock.acquire()
        lock.release()


def start(directory: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "devstack.up", *options],
        env={
            **_CLEAN,
            "DEVSTACK_DIR": str(directory),
            "PORT": str(free_port()),
            "OTLP_GRPC_PORT": str(free_port()),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def read_until(process: subprocess.Popen[str], beginning: str) -> str:
    """Returns the first line with this beginning.

    Raises `AssertionError` with all output if none.
    """
    assert process.stdout is not None
    lines = []
    timer = threading.Timer(150, process.kill)
    timer.start()
    try:
        for line in process.stdout:
            lines.append(line)
            if line.startswith(beginning):
                return line
    finally:
        timer.cancel()
    raise AssertionError("".join(lines))


def test_demonstrate_stop_and_check_on_the_same_data(directory: Path) -> None:
    serving = start(directory)
    assert read_until(serving, "ready ").startswith("ready http://127.0.0.1:")
    assert read_until(serving, "ready ").startswith("ready grpc 127.0.0.1:")
    second = start(directory)
    output, _nothing = second.communicate(timeout=30)
    assert second.returncode == 1
    assert f"already running in {directory} (process {serving.pid})" in output

    opened = read_until(serving, "Open: ").split()[-1]
    link = read_until(serving, "Sign in: ").split()[-1]
    assert link.startswith(f"{opened}development/sign-in/")
    read_until(serving, "Ctrl-C stops everything")
    serving.send_signal(signal.SIGINT)
    serving.communicate(timeout=60)
    assert serving.returncode == 0
    assert leftovers(directory, StateFile(directory).read()) == []

    checking = start(directory, "--check")
    output, _nothing = checking.communicate(timeout=150)
    assert checking.returncode == 0, output
    assert "page ... ok" in output
    assert "sign-in link ... ok" in output
    assert "sign-in link, once ... ok" in output
    assert "failures by tool, in SQL ... ok" in output
    assert "scores: task_success ... ok" in output
    assert "incident of an alert ... ok" in output
    assert "tools that fail, by the audit ... ok" in output
    assert leftovers(directory, StateFile(directory).read()) == []
