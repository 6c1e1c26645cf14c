"""The results that a version declares: what is accepted, and which field a refusal names."""

from typing import Any

import pytest

from shared.evaluation.evaluators.declarations import CategoryOption, parse, stored
from shared.foundation.core.errors import Invalid

OPTIONS = [{"value": "good"}, {"value": "bad", "meaning": "worse than before"}]


def result(**fields: Any) -> dict[str, Any]:
    return {"key": "goal", "kind": "score", **fields}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"title": "Goal reached", "unit": "share", "pass_at": 0.5},
        {"pass_at": 1, "lower_is_better": True},
        {"min": 0.25, "max": 0.75, "pass_at": 0.5},
        {"min": 0, "max": 1.0},
        {"kind": "number", "min": -5, "max": 5, "pass_at": -5},
        {"kind": "number", "pass_at": 1e300},
        {"kind": "assertion"},
        {"kind": "category"},
        {"kind": "category", "options": OPTIONS},
        {"kind": "category", "options": [{"value": str(n)} for n in range(20)]},
        {"kind": "text", "lower_is_better": False, "min": None},
        {"key": "k" * 128},
        {"unknown": "is ignored"},
    ],
)
def test_a_declaration_is_read_back(fields: dict[str, Any]) -> None:
    [made] = parse([result(**fields)])
    assert stored([made.json()]) == (made,)
    assert parse([made.json()]) == (made,)


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"key": None}, "key"),
        ({"key": ""}, "key"),
        ({"key": 5}, "key"),
        ({"key": "a\nb"}, "key"),
        ({"key": "k" * 129}, "key"),
        ({"kind": None}, "kind"),
        ({"kind": "grade"}, "kind"),
        ({"kind": 1}, "kind"),
        ({"title": "t" * 129}, "title"),
        ({"title": 1}, "title"),
        ({"unit": "u" * 33}, "unit"),
        ({"min": "0"}, "min"),
        ({"min": True}, "min"),
        ({"min": -0.1}, "min"),
        ({"max": 1.1}, "min"),
        ({"max": float("inf")}, "max"),
        ({"kind": "number", "max": 10**400}, "max"),
        ({"kind": "number", "min": 2, "max": 1}, "max"),
        ({"pass_at": 1.1}, "pass_at"),
        ({"kind": "number", "min": 0, "pass_at": -1}, "pass_at"),
        ({"kind": "assertion", "pass_at": 1}, "pass_at"),
        ({"kind": "text", "min": 0}, "min"),
        ({"kind": "category", "lower_is_better": True}, "lower_is_better"),
        ({"lower_is_better": 1}, "lower_is_better"),
        ({"options": OPTIONS}, "options"),
        ({"kind": "category", "options": OPTIONS[:1]}, "options"),
        ({"kind": "category", "options": [{"value": str(n)} for n in range(21)]}, "options"),
        ({"kind": "category", "options": {}}, "options"),
        ({"kind": "category", "options": [{}, {}]}, "options.0.value"),
        ({"kind": "category", "options": ["a", "b"]}, "options.0"),
        ({"kind": "category", "options": [{"value": "a"}, {"value": "a"}]}, "options.1.value"),
        ({"kind": "category", "options": [{"value": "v" * 65}, OPTIONS[0]]}, "options.0.value"),
        (
            {"kind": "category", "options": [{"value": "a", "meaning": "m" * 1001}, OPTIONS[0]]},
            "options.0.meaning",
        ),
    ],
)
def test_a_bad_declaration_names_its_field(fields: dict[str, Any], name: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse([result(key="first"), result(**fields)])
    assert list(refused.value.fields) == [f"results.1.{name}"]


@pytest.mark.parametrize("value", [None, {}, "goal", [result(key=str(n)) for n in range(26)]])
def test_the_list_is_one_of_at_most_25(value: object) -> None:
    with pytest.raises(Invalid) as refused:
        parse(value)
    assert list(refused.value.fields) == ["results"]
    assert len(parse([result(key=str(n)) for n in range(25)])) == 25


def test_a_key_is_declared_once() -> None:
    with pytest.raises(Invalid) as refused:
        parse([result(), result(kind="text")])
    assert list(refused.value.fields) == ["results.1.key"]


def test_a_declaration_is_stored_with_what_it_has_only() -> None:
    [score, category] = parse(
        [result(title=" ", min=None), result(key="mood", kind="category", options=OPTIONS)]
    )
    assert score.json() == {"key": "goal", "kind": "score"}
    assert category.options == (
        CategoryOption("good"),
        CategoryOption("bad", "worse than before"),
    )
    assert category.json()["options"] == OPTIONS
