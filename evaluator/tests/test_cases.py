"""`test` compares what evaluators make of sessions in files with what is expected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from watchpost_evaluator import cli

MODULE = """
from watchpost_evaluator import *

@evaluator("tools", version="1", result="number")
def tools(session):
    calls = session.tool_calls()
    if not calls:
        return Skip("no_tools")
    if session.errors():
        raise RuntimeError("there are errors")
    return {"tools": Number(len(calls) / 10, "why not"), "any": Assertion(True, labels=["x"])}
"""
USE = [{"type": "tool_use", "tool_name": "a"}]
RIGHT: list[dict[str, Any]] = [
    {"session": USE, "expect": {"tools": 0.1}},
    {"session": USE, "expect": {"any": True, "tools": {"value": 0.1, "reasoning": "why"}}},
    {"session": USE, "expect": {"any": {"passed": True, "labels": ["x"], "kind": "assertion"}}},
    {"file": "exported/one.json", "expect": {"tools": 0.1}},
    {"session": {"session_id": "x", "events": []}, "expect": {"skip": "no_tools"}},
    {"session": [*USE, {"type": "error"}], "expect": {"error": "there are"}},
]
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"tools": 0.2}, "tools: value is 0.1, expected 0.2"),
    ({"tools": True}, "tools: value is 0.1, expected True"),
    ({"any": 1}, "any: value is True, expected 1"),
    ({"any": {"reasoning": "why"}}, "any: reasoning is None, expected 'why'"),
    ({"none": 1}, "none: there is no such value; there are tools, any"),
    ({"skip": "no_tools"}, "expected skip 'no_tools', but it ended as done: tools = 0.1"),
    ({"error": "x"}, "expected error 'x', but it ended as done: tools = 0.1"),
]
BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"session": USE, "expect": {}}, "needs `evaluator`, a key, and `expect`"),
    ({"session": USE, "file": "x", "expect": {"a": 1}}, "either `session` or `file`"),
    ({"session": 3, "expect": {"a": 1}}, "a session is an object with events"),
    ({"session": USE, "evaluator": "x", "expect": {"a": 1}}, "there is no evaluator x"),
    ({"session": USE, "expect": {"tools": {"valeu": 1}}}, "`expect` of tools has a field valeu"),
]


def run(folder: Path, *cases: dict[str, Any]) -> int:
    (folder / "mine.py").write_text(MODULE)
    (folder / "cases" / "exported").mkdir(parents=True)
    (folder / "cases" / "exported" / "one.json").write_text(json.dumps(USE))
    for number, case in enumerate(cases):
        content = json.dumps({"evaluator": "tools", **case})
        (folder / "cases" / f"case-{number}.json").write_text(content)
    return cli.main(["test", str(folder / "mine.py"), "--cases", str(folder / "cases")])


def test_cases_that_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, *RIGHT) == 0, capsys.readouterr().out
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "ok  case-0  tools@1"
    assert said[-1] == "6 of 6 cases are as expected"


def test_a_difference_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, *({"session": USE, "expect": expect} for expect, _ in WRONG)) == 1
    said = capsys.readouterr().out
    for number, (_, difference) in enumerate(WRONG):
        assert f"FAILED  case-{number}  tools@1\n    {difference}" in said
    assert said.endswith(f"0 of {len(WRONG)} cases are as expected\n")


@pytest.mark.parametrize(("case", "problem"), BROKEN)
def test_a_file_that_is_no_case_is_named(
    case: dict[str, Any], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, case) == 2
    assert problem in capsys.readouterr().err


def test_no_case_is_a_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path) == 2
    assert "there is no case in" in capsys.readouterr().err
