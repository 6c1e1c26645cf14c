"""The examples of the README work, and it names every command and option."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from kit.sessions import PROJECT
from watchpost_evaluator import cli

README = (PROJECT / "evaluator" / "README.md").read_text()
EVALUATOR, TESTS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
[CASE] = re.findall(r"```json\n(.*?)```", README, re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "evaluators.py").write_text(EVALUATOR)
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "refund.json").write_text(CASE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "evaluators", raising=False)
    return tmp_path


def test_the_case_holds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["test"]) == 0
    assert capsys.readouterr().out.startswith("ok  refund  refund_policy@1\n")


@pytest.mark.flow
def test_the_tests_pass(folder: Path) -> None:
    (folder / "test_refund.py").write_text(TESTS)
    (folder / "exports").mkdir()
    (folder / "exports" / "refund.json").write_text('[{"type": "tool_use", "tool_name": "refund"}]')
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "watchpost_evaluator.pytest_plugin"],
        env={"PYTHONPATH": f"{PROJECT / 'evaluator'}:{folder}"},
        capture_output=True,
        text=True,
    )
    assert "2 passed" in done.stdout, done.stdout


def test_every_command_and_option_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    section = README.partition("## Commands")[2].partition("## Tests")[0]
    for command in ("try", "test", "serve", "work", "templates"):
        with pytest.raises(SystemExit):
            cli.main([command, "--help"])
        row = next(line for line in section.splitlines() if line.startswith(f"| `{command}"))
        for option in set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help"}:
            assert option in row, option
