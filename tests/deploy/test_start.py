"""The commands of the image start what they name, from a folder that holds what the image holds."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import msgspec
import pytest

from devstack import DevStack
from devstack.ports import free_port
from tests.deploy import files
from tests.support.databases import empty_databases, environment
from tests.support.markdown import PROJECT
from tests.support.processes import wait_until

pytestmark = pytest.mark.flow

RUNNING = ("web", "worker", "clock", "otlp-grpc")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The working folder of the image."""
    for name in files.copied():
        source, target = PROJECT / name, tmp_path / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=left_out)
        else:
            shutil.copy(source, target)
    return tmp_path


def left_out(folder: str, names: list[str]) -> set[str]:
    """Returns what `deploy/Dockerfile.dockerignore` leaves out of a folder."""
    ignored = {"__pycache__"}
    if Path(folder) == PROJECT / "web/ui":
        ignored |= {"node_modules", "src", "tools"}
    return ignored & set(names)


@pytest.fixture
def environ(stack: DevStack) -> Iterator[dict[str, str]]:
    """The variables of a container, on empty databases and on this machine only."""
    with empty_databases(stack.urls) as urls:
        yield {
            **files.image_variables(),
            **environment(urls),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            # The project itself is installed in the environment of the tests.
            "PYTHONPATH": ".",
            "PORT": str(free_port()),
            "OTLP_GRPC_PORT": str(free_port()),
            "WEB_BIND": "127.0.0.1",
            "ADMIN_KEY": "admin-key-of-the-tests",
        }


def test_the_commands_of_the_containers_start_and_stop(
    folder: Path, environ: dict[str, str]
) -> None:
    commands = {name: one["command"] for name, one in files.own_services().items()}
    subprocess.run(commands.pop("release"), cwd=folder, env=environ, check=True, timeout=120)
    assert set(commands) == set(RUNNING)
    logs = {name: (folder / f"{name}.log").open("wb") for name in commands}
    running = {
        name: subprocess.Popen(
            command, cwd=folder, env=environ, stdout=logs[name], stderr=logs[name]
        )
        for name, command in commands.items()
    }
    try:
        wait_until(lambda: ready(int(environ["PORT"])))
        subprocess.run(healthcheck(), cwd=folder, env=environ, check=True, timeout=60)
        for process in running.values():
            process.send_signal(signal.SIGTERM)
        for name, process in running.items():
            assert process.wait(60) == 0, (folder / f"{name}.log").read_text()
        # From here on nothing answers.
        assert subprocess.run(healthcheck(), cwd=folder, env=environ, check=False).returncode != 0
    finally:
        for name, process in running.items():
            process.kill()
            process.wait()
            logs[name].close()
            print((folder / f"{name}.log").read_text())  # noqa: T201 shown with a failed test


def healthcheck() -> list[str]:
    """Returns the command by which the image checks `web`."""
    [value] = [value for name, value in files.dockerfile() if name == "HEALTHCHECK"]
    found = re.search(r"CMD (\[.*\])", value)
    assert found is not None
    return files.json_list(found[1])


def ready(port: int) -> bool:
    """Returns whether the whole deployment does its work."""
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", "/v1/ready")
        answer = connection.getresponse()
        checks = msgspec.json.decode(answer.read())["checks"]
    except OSError:
        return False
    finally:
        connection.close()
    return answer.status == 200 and checks["ingest"] == "ok"
