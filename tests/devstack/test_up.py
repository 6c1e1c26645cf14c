"""`bin/up` itself, with everything that it starts."""

import os
import re
import shlex
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
from devstack.up.programs import PROJECT
from tests.flows.api import Api
from tests.support.events import event
from tests.support.markdown import blocks, section
from tests.support.processes import wait_until
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


def orgctl(directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROJECT / "bin" / "orgctl", *words],
        env={**_CLEAN, "DEVSTACK_DIR": str(directory)},
        capture_output=True,
        text=True,
        check=False,
    )


def stop(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)
    output, _nothing = process.communicate(timeout=60)
    assert process.returncode == 0, output


def start(directory: Path, *options: str) -> subprocess.Popen[str]:
    return begin("env", f"DEVSTACK_DIR={directory}", sys.executable, "-m", "devstack.up", *options)


def begin(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        words,
        cwd=PROJECT,
        env={
            **_CLEAN,
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

    link = read_until(serving, "Open: ").split()[-1]
    address = read_until(serving, "Later: ").split()[-1]
    assert link.startswith(f"{address}development/sign-in/")
    read_until(serving, "Ctrl-C stops everything")
    stop(serving)
    assert leftovers(directory, StateFile(directory).read()) == []

    # Beside events of a user the demonstration plays only when it is asked for.
    again = start(directory)
    read_until(again, "no demonstration, because there are events")
    read_until(again, "Ctrl-C stops everything")
    stop(again)

    asked = start(directory, "--demo")
    read_until(asked, "the demonstration took ")
    stop(asked)

    checking = start(directory, "--check")
    output, _nothing = checking.communicate(timeout=150)
    assert checking.returncode == 0, output
    assert "page ... ok" in output
    assert "sign-in link ... ok" in output
    assert "sign-in link, once ... ok" in output
    assert "failures by tool, in SQL ... ok" in output
    assert "scores: task_success ... ok" in output
    assert "incident of an alert ... ok" in output
    assert "a tile of the dashboard ... ok" in output
    assert "tools that fail, by the audit ... ok" in output
    assert leftovers(directory, StateFile(directory).read()) == []


def commands_of_the_page(restored: Path, place: str) -> list[list[str]]:
    """Returns the words of the commands that restore on a development machine."""
    text = section((PROJECT / "docs/run/backup.md").read_text(), "Restore")
    commands = "".join(block.text for block in blocks(text)).splitlines()
    here = (re.sub(r"DEVSTACK_DIR=\S+", f"DEVSTACK_DIR={restored}", one) for one in commands)
    return [["env", *shlex.split(re.sub(r"/var/backups/\S+", place, one))] for one in here]


def test_a_backup_is_restored_into_stores_without_processes(
    directory: Path, tmp_path: Path
) -> None:
    """The steps of the document about backups."""
    serving = start(directory, "--no-demo")
    url = read_until(serving, "ready http").split()[1]
    key = read_until(serving, "ADMIN_KEY: ").split()[1]
    api = Api(int(url.rpartition(":")[2]), key)
    api.deliver([event("kept", "11:00:00")])
    wait_until(lambda: len(list(api.rows("sessions"))) == 1)
    place = orgctl(directory, "backup", "create", str(tmp_path)).stdout.split()[-1]
    refused = orgctl(directory, "backup", "restore", place)
    assert refused.returncode == 1
    assert "bin/up --stores" in refused.stderr
    stop(serving)

    with stack_directory() as restored:
        [stores_alone, restore, everything] = commands_of_the_page(restored, place)
        stores = begin(*stores_alone)
        read_until(stores, "ready stores")
        done = subprocess.run(restore, cwd=PROJECT, env=_CLEAN, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        stop(stores)
        again = begin(*everything)
        url = read_until(again, "ready http").split()[1]
        read_until(again, "no demonstration, because there are events")
        key = read_until(again, "ADMIN_KEY: ").split()[1]
        api = Api(int(url.rpartition(":")[2]), key)
        assert [row["session_id"] for row in api.rows("sessions")] == ["kept"]
        stop(again)
