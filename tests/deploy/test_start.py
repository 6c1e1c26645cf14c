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
from web.ui.shell import NOT_BUILT

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
def environ(stack: DevStack, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The variables of a container, on empty databases and on this machine only.

    `deploy/.env` is the one that the quick start of docs/run/deploy.md makes.
    """
    made = tmp_path / "quick-start" / "deploy"
    made.mkdir(parents=True)
    commands = quick_start().partition("docker compose")[0]
    subprocess.run(["bash", "-euc", commands], cwd=made.parent, check=True)
    lines = (made / ".env").read_text().splitlines()
    with empty_databases(stack.urls) as urls:
        yield {
            **files.image_variables(),
            **(given := dict(line.split("=", 1) for line in lines)),
            **files.container_variables("web", given),
            **environment(urls),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            # The project itself is installed in the environment of the tests.
            "PYTHONPATH": ".",
            "PORT": str(free_port()),
            "OTLP_GRPC_PORT": str(free_port()),
            "WEB_BIND": "127.0.0.1",
        }


def quick_start() -> str:
    """Returns the first commands of the section about containers."""
    section = (PROJECT / "docs/run/deploy.md").read_text().partition("## Containers\n")[2]
    return section.partition("```sh\n")[2].partition("```")[0]


def mailed_code(log: Path) -> str:
    """Returns the code in a worker's log, by the expression for sed in docs/run/deploy.md."""
    text = (PROJECT / "docs/run/deploy.md").read_text()
    found = re.search(r"sed -n '(s/.*mailed_code.*/p)'", text)
    assert found is not None
    done = subprocess.run(["sed", "-n", found[1], log], capture_output=True, text=True, check=True)
    return done.stdout.strip()


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
        person = {"email": environ["ADMIN_EMAIL"]}
        assert post(int(environ["PORT"]), "/v1/auth/otp/request", person) == 200
        wait_until(lambda: mailed_code(folder / "worker.log") != "")
        with_code = {**person, "code": mailed_code(folder / "worker.log")}
        assert post(int(environ["PORT"]), "/v1/auth/otp/verify", with_code) == 200
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


def test_web_serves_the_api_where_the_ui_was_not_built(
    folder: Path, environ: dict[str, str]
) -> None:
    shutil.rmtree(folder / "web/ui/static")
    commands = {name: one["command"] for name, one in files.own_services().items()}
    subprocess.run(commands["release"], cwd=folder, env=environ, check=True, timeout=120)
    log = folder / "web.log"
    with log.open("wb") as output:
        web = subprocess.Popen(
            commands["web"], cwd=folder, env=environ, stdout=output, stderr=output
        )
    try:
        port = int(environ["PORT"])
        wait_until(lambda: answer(port, "/v1/health")[0] == 200)
        asked = {"Authorization": f"Bearer {environ['ADMIN_KEY']}"}
        status, body = answer(port, "/v1/sessions", asked)
        assert (status, msgspec.json.decode(body)["sessions"]) == (200, [])
        for path in ("/", "/sign-in", "/o/default/sessions"):
            status, body = answer(port, path)
            assert (status, body) == (503, f"{NOT_BUILT}\n".encode()), path
        assert answer(port, "/ui/main-ABCDEFGH.js")[0] == 404
        web.send_signal(signal.SIGTERM)
        assert web.wait(60) == 0
        warnings = [line for line in log.read_text().splitlines() if '"ui_not_built"' in line]
        assert len(warnings) == 1
        # There is no SECRETS_KEY.
        assert '"secrets_in_clear"' in log.read_text()
        assert "Traceback" not in log.read_text()
    finally:
        web.kill()
        web.wait()


def healthcheck() -> list[str]:
    """Returns the command by which the image checks `web`."""
    [value] = [value for name, value in files.dockerfile() if name == "HEALTHCHECK"]
    found = re.search(r"CMD (\[.*\])", value)
    assert found is not None
    return files.json_list(found[1])


def answer(port: int, path: str, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
    """Returns status and body of a GET; 0 and nothing if nothing listens."""
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path, headers=headers or {})
        answered = connection.getresponse()
        return answered.status, answered.read()
    except OSError:
        return 0, b""
    finally:
        connection.close()


def post(port: int, path: str, body: dict[str, str]) -> int:
    """Returns the status of a POST of JSON."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(
            "POST", path, msgspec.json.encode(body), {"Content-Type": "application/json"}
        )
        return connection.getresponse().status
    finally:
        connection.close()


def ready(port: int) -> bool:
    """Returns whether the whole deployment does its work."""
    status, body = answer(port, "/v1/ready")
    return status == 200 and msgspec.json.decode(body)["checks"]["ingest"] == "ok"
