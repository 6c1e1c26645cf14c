"""Each template fires where it should, not elsewhere, and fails on no recorded session."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kit.sessions import event, recorded, said, session, tool
from watchpost_evaluator import Evaluator, Session, cli, templates
from watchpost_evaluator.catalogue import templates as every_template
from watchpost_evaluator.definition import load
from watchpost_evaluator.outcome import run
from watchpost_evaluator.templates.context_pressure import window_of

EVERY: dict[str, Evaluator] = {one.key: one for one in load("watchpost_evaluator.templates")}
AWS = "AKIA" + "ABCDEFGH23456789"
GITHUB = "ghp_" + "a1B2" * 10

# The outcome of a template: whether it passes, and a part of its reasoning or its skip.
CASES: list[tuple[str, Session, bool | None, str]] = [
    ("tool_failure_rate", session(), None, "no_tools"),
    ("tool_failure_rate", session(event("tool_use", tool_name="a")), None, "no_tools"),
    ("tool_failure_rate", session(*[tool("a")] * 9, tool("a", error="x")), True, "1 of 10"),
    ("tool_failure_rate", session(tool("a"), tool("a", outcome="denied")), False, "1 of 2"),
    ("tool_loop", session(), None, "no_tools"),
    ("tool_loop", session(event("tool_result", tool_name="a")), None, "no_tools"),
    ("tool_loop", session(*[tool("a", 1), tool("b", 1)] * 5), True, "no call was repeated"),
    ("tool_loop", session(*[tool("a", 1)] * 2, tool("a", 2)), True, "a was called 2 times"),
    ("tool_loop", session(tool("b"), *[tool("a", {"x": 1, "y": 2})] * 3), False, "a was called 3"),
    ("goal_reached", session(), None, "no_outcome"),
    ("goal_reached", session(outcome="Success"), True, "the outcome is success"),
    ("goal_reached", session(outcome="failed"), False, "the outcome is failed"),
    ("latency_budget", Session({"events": []}), None, "no_events"),
    ("latency_budget", session(*[event("note")] * 120), True, "120.0 s of work, and 0.0"),
    ("latency_budget", session(*[event("note")] * 121), False, "121.0 s of work"),
    (
        "latency_budget",
        session(*[event("note")] * 121, event("human_input", duration_ms=60_000)),
        True,
        "62.0 s of work, and 60.0 s",
    ),
    ("token_budget", session(said("x")), None, "no_tokens"),
    ("token_budget", session(said("x", input_tokens=90_000, output_tokens=10_000)), True, "90000"),
    ("token_budget", session(said("x", input_tokens=90_000, output_tokens=10_001)), False, "10001"),
    ("context_pressure", session(said("x")), None, "no_window_or_tokens"),
    ("context_pressure", session(said("x", input_tokens=64_000)), True, "gpt-4o was 50% full"),
    ("context_pressure", session(said("x", input_tokens=192_000)), False, "gpt-4o was 150% full"),
    ("error_free", session(tool("a"), outcome="success"), True, "0 events"),
    ("error_free", session(tool("a", error="x")), False, "1 events report a failure"),
    ("error_free", session(outcome="timeout"), False, "1 events report a failure"),
    ("order_of_tools", session(tool("get_policy")), None, "no_such_tool"),
    ("order_of_tools", session(tool("get_policy"), tool("refund")), True, "every tool"),
    ("order_of_tools", session(tool("refund"), tool("get_policy")), False, "refund was used bef"),
    ("order_of_tools", session(tool("get_policy", error="x"), tool("refund")), False, "get_policy"),
    ("forbidden_tool", session(tool("undelete_user")), True, "no forbidden tool"),
    ("forbidden_tool", session(tool("Delete_user", error="x")), False, "Delete_user was used"),
    ("leaked_secret", session(tool("a", {"key": "ghp_" + "x" * 40, "b": "AKIA"})), True, "no cred"),
    ("leaked_secret", session(said(f"use {AWS}.")), False, "found: AWS access key"),
    ("leaked_secret", session(tool("a", {"b": [{GITHUB: 1}]})), False, "found: GitHub token"),
    ("unanswered_person", session(said("Hi")), None, "no_person"),
    (
        "unanswered_person",
        session(event("human_input", response="Thank you?"), tool("a"), said("Yes.")),
        True,
        "the person got an answer",
    ),
    (
        "unanswered_person",
        session(event("human_input", response="A?"), event("human_wait", prompt="B?")),
        True,
        "the person got an answer",
    ),
    (
        "unanswered_person",
        session(said("Yes."), event("human_input", response="Thanks a lot!")),
        True,
        "the person took leave",
    ),
    (
        "unanswered_person",
        session(said("Yes."), event("human_input", response="Thanks. And why?"), said("")),
        False,
        "nothing was said",
    ),
    ("valid_json_output", session(tool("a")), None, "no_output"),
    (
        "valid_json_output",
        session(said("no"), said('```json\n{"a": 1}\n```'), said("")),
        True,
        "it",
    ),
    ("valid_json_output", session(said("{}"), said("{}.")), False, "it is no JSON"),
]


@pytest.mark.parametrize(("key", "made", "passed", "told"), CASES)
def test_a_template(key: str, made: Session, passed: bool | None, told: str) -> None:
    outcome = run(EVERY[key], made)
    reasoning = outcome.results[key].reasoning if outcome.results else outcome.reason
    assert (outcome.passed, outcome.error) == (passed, None)
    assert told in str(reasoning)
    assert "ghp_" not in str(reasoning)


def test_each_template_has_cases_of_both_kinds() -> None:
    for key in EVERY:
        assert {passed for one, _, passed, _ in CASES if one == key} >= {True, False}, key
    assert len(EVERY) == 12


@pytest.mark.parametrize("key", EVERY)
def test_a_template_fails_on_no_recorded_session(key: str) -> None:
    for one in recorded():
        outcome = run(EVERY[key], one)
        assert outcome.status in ("done", "skipped"), (outcome.error, one.id)


def test_a_finding_has_evidence() -> None:
    [made] = [one for key, one, passed, told in CASES if told.startswith("a was called 3")]
    outcome = run(EVERY["tool_loop"], made)
    assert outcome.results["tool_loop"].evidence == (4, 5, 6, 7, 8, 9)


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("openai/gpt-4o-mini", 128_000),
        ("gpt-4.1-nano", 1_047_576),
        ("GPT-4-0613", 8_192),
        ("anthropic/claude-sonnet-4.6", 1_000_000),
        ("unheard-of", None),
    ],
)
def test_the_longest_name_of_a_model_counts(model: str, window: int | None) -> None:
    assert window_of(model) == window


JUDGES = [one for one in every_template() if one.is_judge]
_OF_A_DEFINITION = {
    *("key", "kind", "name", "description", "labels", "spec", "condition", "results", "large")
}


@pytest.mark.parametrize("template", JUDGES, ids=lambda one: one.name)
def test_a_judge_is_within_the_bounds(template: Any) -> None:
    definition = json.loads(template.read())
    assert definition.keys() == _OF_A_DEFINITION
    assert (definition["key"], definition["kind"]) == (template.name, "judge")
    assert 1 <= len(definition["name"]) <= 128
    assert len(definition["description"]) <= 2000
    spec = definition["spec"]
    assert len(spec["criteria"].encode()) <= 8 * 1024
    assert spec["show"].keys() == {"tools", "system", "reasoning"}
    [result] = definition["results"]
    assert result["key"] == template.name
    assert result["kind"] in ("score", "assertion", "category")
    assert ("pass_at" in result) == (result["kind"] == "score")
    options = result.get("options", [])
    assert (2 <= len(options) <= 20) == (result["kind"] == "category")
    assert all(1 <= len(one["value"]) <= 64 and one["meaning"] for one in options)


def test_there_are_eight_judges() -> None:
    assert len(JUDGES) == 8


def test_they_are_listed_printed_and_copied(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["templates"]) == 0
    listed = re.findall(r"^  (\w+)  +[A-Z].*\.$", capsys.readouterr().out, re.MULTILINE)
    assert listed == [one.name for one in every_template()]
    assert sorted(listed[:12]) == sorted(templates.__all__)
    assert cli.main(["templates", "tone"]) == 0
    assert json.loads(capsys.readouterr().out)["key"] == "tone"
    folder = tmp_path / "mine"
    assert cli.main(["templates", "tool_loop", "--copy", str(folder)]) == 0
    assert capsys.readouterr().out == f"{folder}/tool_loop.py\n"
    assert [one.name for one in load(str(folder / "tool_loop.py"))] == ["tool_loop@1"]
    assert cli.main(["templates", "--copy", str(folder)]) == 1
    assert "tool_loop.py is there already; nothing was copied" in capsys.readouterr().err
    assert [path.name for path in folder.iterdir()] == ["tool_loop.py"]
    assert cli.main(["templates", "--copy", str(tmp_path / "all")]) == 0
    assert len(list((tmp_path / "all").iterdir())) == 20
    assert cli.main(["templates", "none"]) == 2
    assert "there is no template none; there are context_pressure," in capsys.readouterr().err
