"""Values of answers become results, or one of them makes the answer an error that names its key."""

import math
from typing import Any

import pytest

from shared.evaluation.evaluators.declarations import parse
from shared.evaluation.evaluators.results import (
    MAX_VALUES,
    ResultValue,
    UnfitResultError,
    check,
    of_scores,
    reasoning_of,
    scores_of,
)
from shared.reading.evaluations.records import EvaluatedResult


def declared(kind: str, **fields: Any) -> Any:
    return parse([{"key": "k", "kind": kind, **fields}])


def value_of(kind: str, value: Any, **fields: Any) -> EvaluatedResult:
    [made] = check(declared(kind, **fields), [ResultValue(key="k", value=value)])
    return made


OPTIONS = {"options": [{"value": "good"}, {"value": "bad"}]}


@pytest.mark.parametrize(
    ("kind", "value", "fields"),
    [
        ("score", 0, {}),
        ("score", 1, {}),
        ("score", 0.5, {"min": 0.5}),
        ("number", -1e300, {}),
        ("number", 2**60, {}),
        ("number", 5, {"min": 5, "max": 6}),
        ("assertion", True, {}),
        ("assertion", False, {}),
        ("category", "c" * 64, {}),
        ("category", "good", OPTIONS),
        ("text", "", {}),
        ("text", "ö" * 4096, {}),
    ],
)
def test_values_within_their_kind(kind: str, value: Any, fields: dict[str, Any]) -> None:
    made = value_of(kind, value, **fields)
    assert (made.key, made.kind, made.value) == ("k", kind, value)


@pytest.mark.parametrize(
    ("kind", "value", "fields"),
    [
        ("score", -0.001, {}),
        ("score", 1.001, {}),
        ("score", 0.4, {"min": 0.5}),
        ("score", True, {}),
        ("score", "1", {}),
        ("score", math.nan, {}),
        ("number", math.inf, {}),
        ("number", 10**400, {}),
        ("number", False, {}),
        ("number", [1], {}),
        ("number", 6.1, {"min": 5, "max": 6}),
        ("assertion", 1, {}),
        ("assertion", "true", {}),
        ("category", "", {}),
        ("category", "c" * 65, {}),
        ("category", 5, {}),
        ("category", "Good", OPTIONS),
        ("text", "x" * 8193, {}),
        ("text", "ö" * 4097, {}),
        ("text", {"a": 1}, {}),
    ],
)
def test_values_outside_their_kind(kind: str, value: Any, fields: dict[str, Any]) -> None:
    with pytest.raises(UnfitResultError, match=r'^result "k": .* is no \w+: it must be ') as unfit:
        value_of(kind, value, **fields)
    assert unfit.value.key == "k"
    assert len(str(unfit.value)) < 200


@pytest.mark.parametrize(
    ("kind", "value", "fields", "passed"),
    [
        ("score", 0.7, {}, None),
        ("score", 0.7, {"pass_at": 0.7}, True),
        ("score", 0.69, {"pass_at": 0.7}, False),
        ("number", 3, {"pass_at": 3, "lower_is_better": True}, True),
        ("number", 4, {"pass_at": 3, "lower_is_better": True}, False),
        ("number", 0, {"pass_at": 0}, True),
        ("assertion", True, {}, True),
        ("assertion", False, {}, False),
        ("category", "good", OPTIONS, None),
        ("text", "words", {}, None),
    ],
)
def test_what_passes(kind: str, value: Any, fields: dict[str, Any], passed: bool | None) -> None:
    assert value_of(kind, value, **fields).passed is passed


def test_the_answer_says_what_passes_where_the_version_does_not() -> None:
    values = [
        ResultValue(key="open", value=0.2, passed=True),
        ResultValue(key="k", value=0.2, passed=True),
        ResultValue(key="mood", value="good", kind="category", passed=False),
        ResultValue(key="ok", value=False, kind="assertion", passed=True),
    ]
    made = check(declared("score", pass_at=0.5), values)
    assert [one.passed for one in made] == [True, False, False, False]


def test_an_undeclared_key_has_the_kind_of_the_answer_else_number() -> None:
    values = [
        ResultValue(key="a", value=7, unit="s"),
        ResultValue(key="b", value="fine", kind="category"),
        ResultValue(key="c", value=None, kind="text"),
    ]
    made = check((), values)
    assert [(one.key, one.kind, one.value) for one in made] == [
        ("a", "number", 7.0),
        ("b", "category", "fine"),
    ]
    assert made[0].unit == "s"
    for bad in (
        ResultValue(key="a", value="fine"),
        ResultValue(key="a", value=True),
        ResultValue(key="a", value=1, kind="grade"),
        ResultValue(key="a", value=1, kind=["number"]),
    ):
        with pytest.raises(UnfitResultError, match='"a"'):
            check((), [bad])


def test_a_declared_key_keeps_its_kind_and_its_unit() -> None:
    declares = declared("number", unit="ms")
    [made] = check(declares, [ResultValue(key="k", value=1, kind="number", unit="s")])
    assert made.unit == "ms"
    with pytest.raises(UnfitResultError, match="declares number"):
        check(declares, [ResultValue(key="k", value="1", kind="text")])


@pytest.mark.parametrize(
    "fields",
    [
        {"reasoning": 5},
        {"unit": ["s"]},
        {"passed": "yes"},
        {"labels": "one"},
        {"labels": ["l" * 65]},
        {"labels": [str(n) for n in range(21)]},
        {"labels": [5]},
        {"evidence": [-1]},
        {"evidence": [2**53]},
        {"evidence": ["x"]},
        {"evidence": [True]},
        {"flags": {}},
    ],
)
def test_bad_companions_of_a_value(fields: dict[str, Any]) -> None:
    with pytest.raises(UnfitResultError, match='"k"'):
        check((), [ResultValue(key="k", value=1, **fields)])


def test_what_comes_with_a_value() -> None:
    [made] = check(
        (),
        [
            ResultValue(
                key="k",
                value=1,
                reasoning="ö" * 10_000 + "\0",
                labels=["a", "b", "a"],
                evidence=[7, "8", 7, *range(100, 200)],
                flags=["instruction_in_transcript"],
            )
        ],
    )
    assert made.reasoning is not None
    assert made.reasoning == "ö" * 8192
    assert made.labels == ("a", "b")
    assert made.evidence[:3] == ("7", "8", "100")
    assert len(made.evidence) <= 50
    assert made.flags == ("instruction_in_transcript",)


@pytest.mark.parametrize("key", ["", "k" * 129, "a\nb", "a\0b", None, 5])
def test_a_key_is_a_short_line(key: Any) -> None:
    with pytest.raises(UnfitResultError):
        check((), [ResultValue(key=key, value=1)])


def test_a_key_comes_once_and_there_are_not_too_many() -> None:
    with pytest.raises(UnfitResultError, match=r'"a".*twice'):
        check((), [ResultValue(key="a", value=1)] * 2)
    many = [ResultValue(key=f"k{n}", value=n) for n in range(MAX_VALUES + 1)]
    assert len(check((), many[:-1])) == MAX_VALUES
    with pytest.raises(UnfitResultError, match=f'"k{MAX_VALUES}"'):
        check((), many)


def test_scores_have_numbers_and_assertions() -> None:
    values = [
        ResultValue(key="s", value=0.5, kind="score"),
        ResultValue(key="n", value=12, reasoning="twelve"),
        ResultValue(key="yes", value=True, kind="assertion"),
        ResultValue(key="no", value=False, kind="assertion", reasoning=""),
        ResultValue(key="c", value="good", kind="category", reasoning="well"),
        ResultValue(key="t", value="1", kind="text"),
    ]
    made = check((), values)
    assert scores_of(made) == {"s": 0.5, "n": 12.0, "yes": 1.0, "no": 0.0}
    assert reasoning_of(made) == {"n": "twelve", "c": "well"}


def test_a_map_of_scores_has_assertions_as_numbers() -> None:
    declares = parse([{"key": "ok", "kind": "assertion"}, {"key": "s", "kind": "score"}])
    made = check(declares, of_scores(declares, {"ok": 1.0, "s": 1, "n": 3}, {"ok": "since"}))
    assert [(one.key, one.kind, one.value) for one in made] == [
        ("ok", "assertion", True),
        ("s", "score", 1.0),
        ("n", "number", 3.0),
    ]
    assert made[0].reasoning == "since"
    with pytest.raises(UnfitResultError, match='"ok"'):
        check(declares, of_scores(declares, {"ok": 0.5}))
