"""Conditions read from JSON, and the errors that name the place."""

from typing import Any

import pytest

from shared.evaluation.evaluators.conditions.fields import FIELDS, described
from shared.evaluation.evaluators.conditions.nodes import AllOf, AnyOf, Leaf, Negation, leaves
from shared.evaluation.evaluators.conditions.parsing import parse
from shared.foundation.core.errors import Invalid

ENDED: dict[str, Any] = {"field": "ended", "op": "is", "value": True}
SEARCH: dict[str, Any] = {"field": "payload", "op": "contains", "value": "refund"}
SHAPES = 'must be {"all": [...]}, {"any": [...]}, {"not": ...} or {"field", "op", "value"}'


def leaf(field: object, op: object, value: object) -> dict[str, Any]:
    return {"field": field, "op": op, "value": value}


def refusal(given: object) -> tuple[str, str]:
    with pytest.raises(Invalid) as raised:
        parse(given)
    [(path, [reason])] = raised.value.fields.items()
    return path, reason


def nested(levels: int) -> dict[str, Any]:
    return ENDED if levels == 1 else {"not": nested(levels - 1)}


def test_null_is_no_condition() -> None:
    assert parse(None) is None


def test_a_tree_becomes_values() -> None:
    given = {
        "all": [
            leaf("environment", "in", ["production", "canary", "production"]),
            {"any": [leaf("tool_failures", ">", 0), {"not": ENDED}]},
        ]
    }
    found = parse(given)
    assert found == AllOf(
        (
            Leaf("environment", "in", ("production", "canary")),
            AnyOf((Leaf("tool_failures", ">", 0.0), Negation(Leaf("ended", "is", True)))),
        )
    )
    assert [one.field for one in leaves(found)] == ["environment", "tool_failures", "ended"]


@pytest.mark.parametrize(
    ("given", "path", "reason"),
    [
        ([], "condition", SHAPES),
        ({}, "condition.field", "is required"),
        ({"all": [], "any": []}, "condition", SHAPES),
        ({"all": []}, "condition.all", "must be an array with at least one condition"),
        ({"any": ENDED}, "condition.any", "must be an array with at least one condition"),
        ({"not": None}, "condition.not", SHAPES),
        ({"all": [ENDED, {"not": 1}]}, "condition.all[1].not", SHAPES),
        ({**ENDED, "note": 1}, "condition", f"has the unknown member 'note'; {SHAPES}"),
        ({"field": "ended", "op": "is"}, "condition.value", "is required"),
        (leaf("cost", ">", 1), "condition.field", f"must be one of {', '.join(FIELDS)}"),
        (leaf([], ">", 1), "condition.field", f"must be one of {', '.join(FIELDS)}"),
        (leaf("ended", "==", True), "condition.op", "must be is for ended"),
        (
            leaf("models", ["in"], []),
            "condition.op",
            "must be any_of or all_of or none_of for models",
        ),
        (leaf("ended", "is", 1), "condition.value", "must be true or false"),
        (leaf("event_count", ">", True), "condition.value", "must be a number"),
        (leaf("event_count", ">", "1"), "condition.value", "must be a number"),
        (leaf("event_count", ">", float("nan")), "condition.value", "must be from -1e+18 to 1e+18"),
        (leaf("event_count", "<", 10**400), "condition.value", "must be from -1e+18 to 1e+18"),
        (leaf("models", "any_of", "a"), "condition.value", "must be an array of 1 to 100 strings"),
        (leaf("models", "any_of", []), "condition.value", "must be an array of 1 to 100 strings"),
        (
            leaf("models", "any_of", ["a"] * 101),
            "condition.value",
            "must be an array of 1 to 100 strings",
        ),
        (
            {"all": [ENDED, leaf("models", "any_of", ["a", ""])]},
            "condition.all[1].value[1]",
            "must be a string of at least a character",
        ),
        (
            leaf("models", "any_of", ["m" * 257]),
            "condition.value[0]",
            "must have at most 256 characters",
        ),
        (
            leaf("session_id", "prefix", "a\0"),
            "condition.value",
            "must not contain control characters",
        ),
        (
            leaf("session_id", "prefix", "\ud800"),
            "condition.value",
            "must not contain half of a character (a lone surrogate)",
        ),
        (
            leaf("payload", "contains", "ab"),
            "condition.value",
            "must be a string of at least 3 characters",
        ),
        (
            leaf("payload", "contains", "a" * 201),
            "condition.value",
            "must have at most 200 characters",
        ),
        ({"all": [ENDED] * 51}, "condition", "must have at most 50 comparisons"),
        (nested(6), "condition.not.not.not.not.not", "must not be below level 5"),
        (
            {"any": [SEARCH] * 4},
            "condition.any[3].field",
            "at most 3 comparisons may have the field payload",
        ),
    ],
)
def test_refused(given: object, path: str, reason: str) -> None:
    assert refusal(given) == (path, reason)


@pytest.mark.parametrize("given", [nested(5), {"all": [ENDED] * 50}, {"any": [SEARCH] * 3}])
def test_the_bounds_themselves_are_accepted(given: object) -> None:
    assert parse(given) is not None


def test_the_description_has_what_the_checks_accept() -> None:
    """Each operator is parsed with a value made from the description alone."""
    description = described()
    assert [one["name"] for one in description["fields"]] == list(FIELDS)
    for field in description["fields"]:
        wanted = field["value"]
        text = "x" * wanted.get("min_length", 0)
        values = {"texts": [text], "text": text, "number": wanted.get("max"), "boolean": False}
        for op in field["ops"]:
            assert parse(leaf(field["name"], op, values[wanted["type"]])) is not None
