"""`bin/up` with small programs in place of the service's own."""

import http.client
import json
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from devstack import StackError
from devstack.ports import free_port
from devstack.processes import leftovers
from devstack.state import StateFile
from devstack.up.deployment import Deployment
from devstack.up.environment import orgctl_file
from tests.support.processes import wait_until

pytestmark = pytest.mark.flow

Procfile = dict[str, str]
MakeDeployment = Callable[[Procfile], Deployment]


@pytest.fixture
def directory() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="watchpost-tests-"))
    yield made
    shutil.rmtree(made)


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def given() -> dict[str, str]:
    """Variables of a user with stores and an evaluator, so that nothing of the stack starts."""
    return {
        "PATH": "/usr/bin:/bin",
        "PORT": str(free_port()),
        "OTLP_GRPC_PORT": str(free_port()),
        "DATABASE_URL": "postgresql://elsewhere/db",
        "REDIS_URL": "redis://elsewhere/0",
        "CLICKHOUSE_URL": "clickhouse://elsewhere/db",
        "EVALUATOR_ENDPOINT": "http://elsewhere",
        "SOMETHING_ELSE": "passed on",
    }


@pytest.fixture
def make(directory: Path, given: dict[str, str], said: list[str]) -> Iterator[MakeDeployment]:
    """Makes a deployment of a working Procfile with some lines replaced."""
    site = directory / "site" / "v1"
    site.mkdir(parents=True)
    (site / "health").write_text("ok")
    checks = dict.fromkeys(("postgres", "clickhouse", "redis", "ingest"), "ok")
    (site / "ready").write_text(json.dumps({"checks": checks}))
    deployments: list[Deployment] = []

    def make(changes: Procfile) -> Deployment:
        lines = {
            "release": f"env > {directory}/release.env",
            "web": f"python -m http.server $PORT --bind 127.0.0.1 --directory {site.parent}",
            "worker": "sleep 1000",
            "clock": "sleep 1000 & sleep 1000",
            **changes,
        }
        procfile = directory / "Procfile"
        procfile.write_text("".join(f"{name}: {line}\n" for name, line in lines.items()))
        deployments.append(Deployment(directory / "stack", given, said.append, procfile))
        return deployments[-1]

    yield make
    for deployment in deployments:
        deployment.stop()
    left = leftovers(directory / "stack", StateFile(directory / "stack").read())
    assert left == []


def answers(port: str) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=2)
    try:
        connection.request("GET", "/v1/health")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def test_the_operators_tool_finds_it_while_it_runs(
    make: MakeDeployment, directory: Path, given: dict[str, str]
) -> None:
    path = orgctl_file(directory / "stack")
    with make({}):
        lines = path.read_text().splitlines()
        assert lines[0] == f"# process {os.getpid()}"
        names = ("DATABASE_URL", "REDIS_URL", "CLICKHOUSE_URL")
        assert lines[1:] == [f"{name}={given[name]}" for name in names]
        with pytest.raises(StackError):
            make({}).start()
        assert path.exists()
    assert not path.exists()


def test_variables_of_the_user_win_and_keys_stay(
    make: MakeDeployment, directory: Path, given: dict[str, str]
) -> None:
    with make({}) as deployment:
        assert deployment.url == f"http://127.0.0.1:{given['PORT']}"
        first_key = deployment.admin_key
        seen = dict(
            line.split("=", 1)
            for line in (directory / "release.env").read_text().splitlines()
            if "=" in line
        )
    assert seen.items() >= (given.items() - {("PATH", given["PATH"])})
    assert seen["PATH"].endswith(given["PATH"])
    assert seen["ADMIN_KEY"] == first_key
    assert len(seen["AGENT_API_KEY"]) >= 16
    assert "EVALUATOR_TOKEN" not in seen
    assert "CLICKHOUSE_READONLY_URL" not in seen
    assert (directory / "stack" / "keys.json").stat().st_mode & 0o077 == 0
    with make({}) as again:
        assert again.admin_key == first_key


def test_a_killed_program_is_named_and_started_again(
    make: MakeDeployment, directory: Path, given: dict[str, str], said: list[str]
) -> None:
    with make({}):
        web = StateFile(directory / "stack").read().processes["web"].pid
        psutil.Process(web).kill()
        wait_until(lambda: "web started again" in said)
        wait_until(lambda: answers(given["PORT"]))
        assert any(message.startswith("web ended; the last lines of") for message in said)


def test_a_failing_release_ends_the_start(make: MakeDeployment) -> None:
    deployment = make({"release": "echo 'no such table' >&2; exit 3"})
    with pytest.raises(StackError, match="release failed:\nno such table"):
        deployment.start()


def test_a_program_that_dies_at_once_ends_the_start(make: MakeDeployment) -> None:
    deployment = make({"web": "sleep 1000", "worker": "echo 'REDIS_URL is bad'; exit 1"})
    with pytest.raises(StackError, match=r"worker ended; the last lines of .*\nREDIS_URL is bad"):
        deployment.start()


def test_one_deployment_a_directory(make: MakeDeployment) -> None:
    with make({}), pytest.raises(StackError, match=r"already running in .* \(process \d+\)"):
        make({}).start()


def test_a_port_that_was_asked_for_is_never_replaced(
    make: MakeDeployment, given: dict[str, str]
) -> None:
    with socket.socket() as squatter:
        squatter.bind(("127.0.0.1", int(given["PORT"])))
        squatter.listen()
        with pytest.raises(StackError, match=f"PORT={given['PORT']} is taken"):
            make({}).start()


def test_programs_get_sigterm_and_time_to_end_in_order(
    make: MakeDeployment, directory: Path
) -> None:
    script = directory / "orderly.py"
    script.write_text(
        "import signal, time, pathlib, sys\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit())\n"
        "try:\n    pathlib.Path(sys.argv[1], 'begun').touch()\n    time.sleep(99)\n"
        "finally:\n    time.sleep(0.5)\n    pathlib.Path(sys.argv[1], 'finished').touch()\n"
    )
    with make({"worker": f"python {script} {directory}"}):
        wait_until((directory / "begun").exists)
    assert (directory / "finished").exists()


def test_a_program_that_ignores_sigterm_ends_all_the_same(
    make: MakeDeployment, directory: Path
) -> None:
    ignore = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(99)"
    deployment = make({"worker": f'python -c "{ignore}" & wait'})
    deployment.start()
    began = time.monotonic()
    deployment.stop()
    assert time.monotonic() - began < 60
    assert leftovers(directory / "stack", StateFile(directory / "stack").read()) == []
