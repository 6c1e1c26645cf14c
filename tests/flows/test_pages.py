"""The blocks of docs/send/send.md and docs/use/evaluator.md, run as they stand there.

What they install comes from the registries; a loopback server answers in place of paid models.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from devstack.ports import free_port
from devstack.up.deployment import Deployment
from tests.flows.api import Api
from tests.flows.ways import (
    QUESTION,
    VARIABLES,
    WAYS,
    Way,
    blocks_of,
    headings,
    packages,
    version_of,
)
from tests.support import markdown, model_server
from tests.support.app import new_key
from tests.support.deployment import running_deployment
from tests.support.evaluator import running_evaluator
from tests.support.markdown import PROJECT
from tests.support.packages import UV, Installed, npm_packages, python_packages
from tests.support.processes import wait_until
from tests.support.runtime import connected, make_org, settings_for
from tests.support.stack import stack_directory

pytestmark = [
    pytest.mark.flow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(shutil.which("curl") is None, reason="the pages use curl"),
]

EVALUATOR = (PROJECT / "docs/use/evaluator.md").read_text()
FILE = '{"session_id":"file-1","timestamp":"2026-11-01T00:00:00Z","type":"agent_start"}\n'
# Clients of models that the agents of the ways use.
CLIENTS = ("langchain-openai", "openai")
# Codex asks the model of the test. Its program and that of Claude Code are large, so they are
# installed apart.
CODEX_MODEL = """model = "gpt-5-mini"
model_provider = "test"
[model_providers.test]
name = "test"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"
"""
PRELUDE = f"""
pip() {{ {UV} pip "$@"; }}
npm() {{ ln -sfn "$NODE_MODULES" node_modules; }}
claude() {{ command claude -p '{QUESTION}' </dev/null; }}
codex() {{ command codex "$@" </dev/null; }}
"""


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    """One deployment for all ways."""
    with running_evaluator() as evaluator, running_deployment(evaluator) as running:
        yield running


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    """The URL of a model."""
    with running_evaluator() as server:
        server.default = model_server.answer
        yield server.url


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """All Python packages of the page in one environment."""
    names = [*packages("pip"), *CLIENTS]
    return python_packages(tmp_path_factory.mktemp("page") / "python", *names)


@pytest.fixture(scope="module")
def javascript(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """All packages of JavaScript."""
    return npm_packages(tmp_path_factory.mktemp("page") / "javascript", *packages("npm"))


@pytest.fixture(scope="module")
def claude(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    name = f"@anthropic-ai/claude-code@{version_of('Claude Code')}"
    return npm_packages(tmp_path_factory.mktemp("page") / "claude", name)


@pytest.fixture(scope="module")
def codex(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    name = f"@openai/codex@{version_of('Codex')}"
    return npm_packages(tmp_path_factory.mktemp("page") / "codex", name)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the collector, with the name that its version gives it."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([PROJECT / "bin/collector-wheel", folder], check=True)
    [made] = folder.iterdir()
    return made


def test_every_block_of_the_page_belongs_to_a_way() -> None:
    of_page = {(one, n) for one in headings() for n in range(len(blocks_of(one)))}
    of_ways = {(way.heading, number) for way in WAYS.values() for number in way.blocks}
    assert of_page - of_ways == {(VARIABLES, 0)}


@pytest.mark.parametrize("name", WAYS)
def test_a_way_to_send_works(
    name: str, deployment: Deployment, model: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    way = WAYS[name]
    api = own_organization(deployment)
    environ = environment(way, api, model, tmp_path, request)
    (tmp_path / "session.jsonl").write_text(FILE)
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex/config.toml").write_text(CODEX_MODEL.format(url=model))
    commands = [PRELUDE, *(commands_of(way, api, tmp_path))]

    with running(commands, environ, tmp_path) as process:
        if not way.stays:
            assert process.wait(120) == 0
        wait_until(lambda: bool(process.poll()) or way.types <= types_of(api), 60)

    assert way.types <= types_of(api)


def test_the_smallest_evaluator_scores_a_session(tmp_path: Path) -> None:
    evaluator = str(free_port())
    [code] = [block.text for block in markdown.blocks(EVALUATOR) if block.language == "python"]
    commands = [block.text for block in markdown.blocks(EVALUATOR) if block.language == "sh"]
    _address, send, score, up, again = [text.replace("9000", evaluator) for text in commands]
    api = Api(free_port(), f"wpa_{os.urandom(16).hex()}")
    environ = {**reader(api, tmp_path), "PORT": str(api.port), "OTLP_GRPC_PORT": "0"}
    environ["ADMIN_KEY"] = api.key
    for name in ("evaluator", "up", "reader"):
        (tmp_path / name).mkdir()
    (tmp_path / "evaluator.py").write_text(code.replace("9000", evaluator))
    serve = f"{sys.executable} {tmp_path}/evaluator.py"

    with (
        stack_directory() as data,
        running([serve], environ, tmp_path / "evaluator"),
        running([f"cd {PROJECT}", up], {**environ, "DEVSTACK_DIR": str(data)}, tmp_path / "up"),
    ):
        said = tmp_path / "up" / "said"
        wait_until(lambda: "ready http" in said.read_text(), 120)
        run([send], environ, tmp_path / "reader")
        wait_until(lambda: len(scores_of(api)) == 1, 60)
        answer = run([score], environ, tmp_path / "reader")
        run([again], environ, tmp_path / "reader")
        wait_until(lambda: len(scores_of(api)) == 2, 60)
        stored = scores_of(api)

    assert stored == [{"calm": 1.0}] * 2
    assert [answer.strip()] == re.findall(r"^# (.*)", score, re.MULTILINE)


def scores_of(api: Api) -> list[object]:
    """Returns the scores of each evaluation of the session."""
    return [row["scores"] for row in api.rows("evaluations", session_id="calm-1")]


def own_organization(deployment: Deployment) -> Api:
    """Returns a client with the key of a new organization."""
    with connected(settings_for(deployment.stack.urls)) as runtime:
        headers = new_key(runtime, make_org(runtime))
    return Api(int(deployment.environ["PORT"]), headers["Authorization"].removeprefix("Bearer "))


def environment(
    way: Way, api: Api, model: str, home: Path, request: pytest.FixtureRequest
) -> dict[str, str]:
    """Returns the variables of a way, with the programs that it needs in PATH."""
    text = "\n".join(part.text for part in way.parts())
    python: Path = request.getfixturevalue("python").need() if "pip " in text else Path(sys.prefix)
    path = [str(python / "bin")]
    modules = Path()
    for word, fixture in (("npm ", "javascript"), ("claude\n", "claude"), ("codex ", "codex")):
        if word in f"{text}\n":
            modules = request.getfixturevalue(fixture).need() / "node_modules"
            path.append(str(modules / ".bin"))
    if ".whl" in text:
        shutil.copy(request.getfixturevalue("wheel"), home)
    return {
        **reader(api, home),
        "PATH": os.pathsep.join([*path, os.environ["PATH"]]),
        "VIRTUAL_ENV": str(python),
        "UV_OFFLINE": "1",
        "NODE_MODULES": str(modules),
        "OPENAI_BASE_URL": f"{model}/v1",
        "OPENAI_API_KEY": "any",
        "ANTHROPIC_BASE_URL": model,
        "ANTHROPIC_API_KEY": "any",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "TRACELOOP_TELEMETRY": "false",
    }


def reader(api: Api, home: Path) -> dict[str, str]:
    """Returns the variables that both pages set."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "WATCHPOST_URL": f"http://127.0.0.1:{api.port}",
        "WATCHPOST_KEY": api.key,
    }


def types_of(api: Api) -> set[str]:
    """Returns the types of the events that arrived."""
    return {row["event_type"] for row in api.rows("events")}


def commands_of(way: Way, api: Api, folder: Path) -> Iterator[str]:
    """Yields the commands of a way, and writes the files that they run or read."""
    if way.variables:
        yield blocks_of(VARIABLES)[0].text
    for part in way.parts():
        if part.language == "python":
            (folder / "agent.py").write_text(part.text)
            yield "python agent.py"
        elif part.language == "js":
            (folder / "agent.mjs").write_text(part.text)
            yield "node agent.mjs"
        elif part.language == "toml":
            own = part.text.replace("http://127.0.0.1:8000", f"http://127.0.0.1:{api.port}")
            with (folder / ".codex/config.toml").open("a") as config:
                config.write(own.replace("wpa_…", api.key))
        else:
            yield part.text


def run(commands: list[str], environ: Mapping[str, str], folder: Path) -> str:
    """Runs the commands to their end and returns what they print."""
    with running(commands, environ, folder) as process:
        assert process.wait(60) == 0
    return (folder / "said").read_text()


@contextmanager
def running(
    commands: list[str], environ: Mapping[str, str], folder: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """Runs the commands in one shell, and ends all that they started. `said` has the output."""
    with (
        (folder / "said").open("wb") as said,
        subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", "\n".join(commands)],
            cwd=folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
            process.wait()
            print((folder / "said").read_text())  # noqa: T201 shown with a failed test
