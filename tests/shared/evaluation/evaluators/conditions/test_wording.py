"""Conditions as sentences."""

import pytest

from shared.evaluation.evaluators.conditions.fields import FIELDS
from shared.evaluation.evaluators.conditions.parsing import parse
from shared.evaluation.evaluators.conditions.wording import in_words


def words(field: str, op: str, value: object) -> str:
    return in_words(parse({"field": field, "op": op, "value": value}))


@pytest.mark.parametrize(
    ("field", "op", "value", "sentence"),
    [
        ("environment", "in", ["production"], "environment is production"),
        ("environment", "in", ["a", "b", "c"], "environment is a, b or c"),
        ("environment", "not_in", ["production"], "environment is not production"),
        ("outcome", "not_in", ["a", "b"], "outcome is none of a and b"),
        ("agent_id", "in", ["x y"], 'root agent is "x y"'),
        ("tool_names", "any_of", ["book"], "the tool book occurs"),
        ("tool_names", "any_of", ["book", "find"], "the tool book or find occurs"),
        ("tool_names", "all_of", ["book", "find"], "the tools book and find occur"),
        ("tool_names", "all_of", ["book"], "the tool book occurs"),
        ("models", "none_of", ["m-1"], "the model m-1 does not occur"),
        ("models", "none_of", ["m-1", "m-2"], "none of the models m-1 and m-2 occurs"),
        ("hook_names", "any_of", list("abcdefg"), "the hook a, b, c, d or 3 others occurs"),
        ("error_types", "any_of", ['a"\n'], 'the error type "a\\"\\n" occurs'),
        ("tool_failures", ">", 0, "it has failed tool calls"),
        ("error_count", "==", 0, "it has no errors"),
        ("error_count", "<", 2, "it has fewer than 2 errors"),
        ("event_count", "==", 1, "it has exactly 1 event"),
        ("input_tokens", ">=", 1500.5, "it has at least 1500.5 input tokens"),
        ("duration_secs", ">", 0, "it lasts more than 0 seconds"),
        ("duration_secs", "<=", 60, "it lasts at most 60 seconds"),
        ("ended", "is", True, "it has ended"),
        ("ended", "is", False, "it has not ended"),
        ("session_id", "prefix", "eu-", 'session id begins with "eu-"'),
        ("payload", "contains", "refund policy", 'a payload contains "refund policy"'),
        ("payload", "contains", "x" * 100, f'a payload contains "{"x" * 59}…"'),
    ],
)
def test_a_comparison(field: str, op: str, value: object, sentence: str) -> None:
    assert words(field, op, value) == sentence


def test_a_tree_has_brackets_where_they_tell_something_apart() -> None:
    failed = {"field": "tool_failures", "op": ">", "value": 0}
    ended = {"field": "ended", "op": "is", "value": True}
    canary = {"field": "environment", "op": "in", "value": ["canary"]}
    condition = {"all": [canary, {"any": [failed, {"not": {"all": [ended]}}]}, {"any": [ended]}]}
    assert in_words(parse(condition)) == (
        "environment is canary and (it has failed tool calls or not (it has ended))"
        " and it has ended"
    )


def test_no_condition_is_for_all_sessions() -> None:
    assert in_words(None) == "all sessions"


def test_every_comparison_has_words() -> None:
    values = {"texts": ["x"], "text": "xyz", "number": 7, "boolean": True}
    sentences = [
        words(field.name, op, values[field.kind.value])
        for field in FIELDS.values()
        for op in field.kind.ops
    ]
    # Of one value, "any of" and "all of" are the same.
    assert len(set(sentences)) == len(sentences) - sum(
        "all_of" in f.kind.ops for f in FIELDS.values()
    )
