"""Values are checked where they are made, and an evaluator returns nothing else."""

from __future__ import annotations

import re
from typing import Any, Callable

import pytest

from kit.sessions import session, tool
from watchpost_evaluator import Assertion, Category, Number, Results, Score, Skip, Text, evaluator
from watchpost_evaluator.definition import chosen, load
from watchpost_evaluator.errors import UsageError
from watchpost_evaluator.values import values_of


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: Score(1.2), "between 0 and 1, not 1.2"),
        (lambda: Score(True), "a score is a number, not True"),
        (lambda: Score(float("nan")), "finite"),
        (lambda: Score(1, passed=1), "passed is True, False or None"),  # type: ignore[arg-type]
        (lambda: Number(float("inf")), "finite"),
        (lambda: Number(1, unit="x" * 65), "longer than 64 bytes"),
        (lambda: Assertion(1), "True or False, not 1"),  # type: ignore[arg-type]
        (lambda: Category(" "), "1 to 64 characters"),
        (lambda: Category("x" * 65), "1 to 64 characters"),
        (lambda: Text(b"x"), "a text, not"),  # type: ignore[arg-type]
        (lambda: Score(1, labels=["x" * 65]), "1 to 64 bytes"),
        (lambda: Score(1, labels="x"), "a list of texts"),
        (lambda: Score(1, labels=[str(n) for n in range(21)]), "at most 20"),
        (lambda: Score(1, evidence=[None]), "evidence has events"),
        (lambda: Skip("No refund"), "a short name such as no_refund"),
    ],
)
def test_a_wrong_value_says_what_is_right(make: Callable[[], object], problem: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(problem)):
        make()


def test_texts_are_cut_and_cleaned() -> None:
    cut = Text("é" * 5000).value
    assert len(cut.encode()) <= 8 * 1024
    assert cut.endswith("é…")
    score = Score(1, "a\x00b\x1b[0m\tc\nd\ud800" + "x" * 20_000)
    assert str(score.reasoning).startswith("a\ufffdb\ufffd[0m\tc\nd\ufffdx")
    assert len(str(score.reasoning).encode()) == 16 * 1024


def test_evidence_is_events_calls_or_ids() -> None:
    made = session(tool("a"), tool("b"))
    first, second = made.tool_calls()
    evidence = [first, second.events[0], 2, *first.events, "x"]
    assert Assertion(True, evidence=evidence).evidence == (2, 3, 4, "x")
    assert Assertion(True, evidence=made.events[0]).evidence == (1,)


def test_only_an_assertion_passes_by_itself() -> None:
    assert [one.passed for one in (Assertion(False), Score(0), Number(1, passed=True))] == [
        False,
        None,
        True,
    ]


@pytest.mark.parametrize(
    ("returned", "problem"),
    [
        (True, "speed is True (bool); return Score"),
        (None, "speed is None; return Score"),
        ({}, "0 values; 1 to 25 are allowed"),
        ({f"k{n}": Score(1) for n in range(26)}, "26 values"),
        ({"Speed": Score(1)}, "'Speed' is no key"),
        (Number(1), 'speed is of the kind number, but @evaluator declares result="score"'),
    ],
)
def test_what_else_is_returned_is_refused(returned: object, problem: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(problem)):
        values_of("speed", "score", returned)


def test_one_value_has_the_key_of_the_evaluator() -> None:
    assert values_of("speed", "score", Score(1)) == ({"speed": Score(1)}, None)
    many = Results({"turns": Number(3)}, summary="Three turns.")
    assert values_of("speed", "score", many) == ({"turns": Number(3)}, "Three turns.")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"key": "Speed"}, "'Speed' is no key"),
        ({"key": "default"}, "default and otlp are taken"),
        ({"version": ""}, "version has 1 to 128 bytes"),
        ({"version": 3}, "version is a text, not 3"),
        ({"result": "bool"}, "result is one of score, number"),
        ({"timeout": 601}, "at most 600 seconds"),
        ({"timeout": "1"}, "a number of seconds"),
        ({"labels": "x"}, "a list of at most 20"),
    ],
)
def test_a_wrong_definition_says_what_is_right(changes: dict[str, Any], problem: str) -> None:
    given = {"key": "speed", "version": "1", **changes}
    with pytest.raises((TypeError, ValueError), match=re.escape(problem)):
        evaluator(given.pop("key"), **given)


MODULE = """
from watchpost_evaluator import Score, evaluator

@evaluator("speed", version="{0}")
def old(session):
    return Score(0.5)

@evaluator("speed", version="2")
def new(session):
    return Score(1)
"""


def test_a_module_may_have_several_versions_of_a_key(tmp_path: Any) -> None:
    file = tmp_path / "json.py"
    file.write_text(MODULE.format("1"))
    every = load(str(file))
    assert [one.name for one in every] == ["speed@1", "speed@2"]
    assert chosen(every, "speed") == every
    assert chosen(every, "speed@2") == every[1:]
    with pytest.raises(UsageError, match="no evaluator slow; there are speed@1, speed@2"):
        chosen(every, "slow")
    file.write_text(MODULE.format("2"))
    with pytest.raises(UsageError, match="two evaluators speed@2: give one another version"):
        load(str(file))


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (None, "there is no file"),
        ("", "has no function with @evaluator"),
        ("import no_such_module", "cannot import .* No module named 'no_such_module'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def", "SyntaxError"),
    ],
)
def test_a_module_that_cannot_be_used_says_why(
    source: str | None, problem: str, tmp_path: Any
) -> None:
    file = tmp_path / "mine.py"
    if source is not None:
        file.write_text(source)
    with pytest.raises(UsageError, match=problem):
        load(str(file))
    with pytest.raises(UsageError, match="no module no_such_module here"):
        load("no_such_module")
