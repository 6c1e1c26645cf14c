"""The blocks of docs/send.md and docs/evaluator.md, run as they stand there."""

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from devstack.ports import free_port
from devstack.up.deployment import Deployment
from tests.flows.api import Api
from tests.support import markdown
from tests.support.deployment import running_deployment
from tests.support.evaluator import running_evaluator
from tests.support.markdown import PROJECT
from tests.support.processes import wait_until

pytestmark = [
    pytest.mark.flow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(shutil.which("curl") is None, reason="the pages use curl"),
]

SEND = (PROJECT / "docs/send.md").read_text()
EVALUATOR = (PROJECT / "docs/evaluator.md").read_text()
VARIABLES = "OpenTelemetry"
# These sections go on from the provider of OpenInference.
GO_ON = {"LangChain", "Anthropic"}
# These start programs that read the home folder, wait for a person or never end.
PROGRAMS = {
    "OpenTelemetry in JavaScript": "@opentelemetry/sdk-node",
    "Claude Code": "claude, watchpost-collect",
    "Codex": "codex, watchpost-collect",
    "failproofai-sdk": "failproofai_sdk, watchpost-collect",
    "fp-cloud-cli": "fp",
}
HEADINGS = re.findall(r"^##+ (.+)$", SEND, re.MULTILINE)
SECTIONS = [heading for heading in HEADINGS if heading != VARIABLES]
FILE = '{"session_id":"file-1","timestamp":"2026-11-01T00:00:00Z","type":"agent_start"}\n'
# The answer to the commands of a section. The others run Python.
SENT = {"curl": '"accepted":2', "Files": '"accepted":1'}


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    """One deployment for all sections."""
    with running_evaluator() as evaluator, running_deployment(evaluator) as running:
        yield running


@pytest.mark.parametrize("heading", SECTIONS)
def test_a_way_to_send_works(heading: str, deployment: Deployment, tmp_path: Path) -> None:
    if heading in PROGRAMS:
        pytest.skip(f"not run: {PROGRAMS[heading]}")
    code = python_of(heading)
    if missing := absent(code):
        pytest.skip(f"absent: {', '.join(missing)}")
    (tmp_path / "session.jsonl").write_text(FILE)
    (tmp_path / "agent.py").write_text(code)
    variables = shell(markdown.section(SEND, VARIABLES).partition("\n### ")[0])
    commands = [*variables, *shell(markdown.section(SEND, heading)), f"{sys.executable} agent.py"]

    printed = run(commands, deployment, tmp_path)

    assert SENT.get(heading, "") in printed.replace(" ", "")


def test_the_smallest_evaluator_scores_a_stored_session(
    deployment: Deployment, api: Api, tmp_path: Path
) -> None:
    port = str(free_port())
    [code] = [block.text for block in markdown.blocks(EVALUATOR) if block.language == "python"]
    send, score = shell(EVALUATOR)[:2]
    with subprocess.Popen([sys.executable, "-c", code.replace("9000", port)]) as evaluator:
        try:
            run([send], deployment, tmp_path)
            wait_until(lambda: any(api.rows("sessions", session_id="calm-1")), 60)
            printed = run([score.replace("9000", port)], deployment, tmp_path)
        finally:
            evaluator.terminate()
    [expected] = re.findall(r"^# (.*)", score, re.MULTILINE)
    assert printed.strip() == expected


def python_of(heading: str) -> str:
    """Returns the Python of a section, after that of the section from which it goes on."""
    before = ["OpenInference"] if heading in GO_ON else []
    return "\n".join(
        block.text
        for name in [*before, heading]
        for block in markdown.blocks(markdown.section(SEND, name))
        if block.language == "python"
    )


def shell(text: str) -> list[str]:
    """Returns the commands of a text, without those that set URL and key."""
    found = [block.text for block in markdown.blocks(text) if block.language == "sh"]
    return [commands for commands in found if "KEY=wpa_" not in commands]


def absent(code: str) -> list[str]:
    """Returns the imported modules that are not installed."""
    nodes = list(ast.walk(ast.parse(code)))
    names = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    names |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return sorted(name for name in names if not installed(name))


def installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # a parent is absent
        return False


def run(commands: list[str], deployment: Deployment, folder: Path) -> str:
    """Runs the commands in one shell and returns what they print."""
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "WATCHPOST_URL": deployment.url,
        "WATCHPOST_KEY": deployment.admin_key,
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(commands)],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
