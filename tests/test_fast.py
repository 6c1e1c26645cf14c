"""`bin/test --fast` selects the tests whose fixtures need no server, and enforces that."""

import os
import socket
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path

import pytest

from devstack import DevStack
from tests.support.fast import computes_briefly
from tests.support.markdown import PROJECT
from tests.support.runtime import Org

UNASKED = "ask for a server's fixture"


def test_a_test_without_servers_is_fast(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("fast")


def test_a_fixture_may_lead_to_servers_through_others(
    request: pytest.FixtureRequest, org: Org
) -> None:
    assert request.node.get_closest_marker("fast") is None


@pytest.mark.flow
def test_servers_of_its_own_are_servers_too(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("fast") is None


def test_a_fast_test_starts_no_server_unasked(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match=UNASKED):
        DevStack(tmp_path, servers={"redis"}).start()


def test_a_fast_test_starts_no_process() -> None:
    with pytest.raises(pytest.fail.Exception, match=UNASKED):
        subprocess.run([sys.executable, "-c", ""], check=True)
    with pytest.raises(pytest.fail.Exception, match=UNASKED):
        get_context("fork").Process().start()


def test_a_fast_test_listens_nowhere() -> None:
    with socket.socket() as listening, pytest.raises(pytest.fail.Exception, match=UNASKED):
        listening.bind(("127.0.0.1", 0))


def test_a_fast_test_computes_for_seconds_at_most() -> None:
    with computes_briefly():
        pass
    with pytest.raises(pytest.fail.Exception, match="processor time"), computes_briefly(0.0):
        sum(range(100_000))


def test_a_fast_test_knows_no_address() -> None:
    assert "DATABASE_URL" not in os.environ


@pytest.mark.flow
def test_browsers_and_other_interpreters_are_not_fast() -> None:
    """Their own `conftest.py` marks them, which has to happen before the decision."""
    files = ("collector/tests/test_kills.py", "tests/ui/browser/test_frame.py", __file__)
    command = (sys.executable, "-m", "pytest", "--collect-only", "-qm", "fast", *files)
    said = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)
    found = {line.partition("::")[0] for line in said.stdout.splitlines() if "::" in line}
    assert found == {"tests/test_fast.py"}, said.stdout


@pytest.mark.flow
def test_the_parts_run_each_test_once(tmp_path: Path) -> None:
    for number in range(8):
        (tmp_path / f"test_{number}.py").write_text(
            "import pytest\npytestmark = pytest.mark.fast\n"
            f"def test_it():\n    open('{tmp_path}/ran', 'a').write('{number} ')\n"
            f"    assert {number} != 5\n"
        )
    (tmp_path / "test_flows.py").write_text("pytestmark = pytest.mark.flow\nnot_imported\n")
    command = (sys.executable, "-m", "tests.support.parts", "-c", os.devnull, str(tmp_path))
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    assert sorted((tmp_path / "ran").read_text().split()) == [f"{one}" for one in range(8)]
    assert "test_5.py" in done.stdout
