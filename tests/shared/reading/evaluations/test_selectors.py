"""The syntax of requested series."""

import json

import pytest

from shared.foundation.core.errors import Invalid
from shared.reading.evaluations.aggregate.selectors import AGGREGATES, Selector, parse_series


def test_each_element_is_a_selector() -> None:
    text = '[["*", "production", "a, b", "p95"], ["é\\u0000", "*", "", "stddev"]]'
    assert parse_series(text) == (
        Selector("*", "production", "a, b", "p95"),
        Selector("é\0", "*", "", "stddev"),
    )
    assert parse_series("[]") == ()


@pytest.mark.parametrize("name", AGGREGATES)
def test_every_aggregate_can_be_asked_for(name: str) -> None:
    [selector] = parse_series(json.dumps([["a", "e", "k", name]]))
    assert selector.agg == name


@pytest.mark.parametrize(
    "bad",
    [
        None,
        7,
        "avg",
        {},
        [],
        ["*", "*", "k"],
        ["*", "*", "k", "avg", "avg"],
        ["*", "*", "k", "median"],
        ["*", "*", "k", "AVG"],
        ["*", "*", "k", None],
        ["*", "*", 1, "avg"],
        ["*", None, "k", "avg"],
        ["", "*", "k", "avg"],
        ["*", "", "k", "avg"],
    ],
)
def test_the_position_of_a_malformed_element_is_reported(bad: object) -> None:
    good = ["*", "*", "k", "avg"]
    with pytest.raises(Invalid) as told:
        parse_series(json.dumps([good, good, bad, good, 1]))
    [reason] = told.value.fields["series"]
    assert reason.startswith("element 2 is not of the form [agent, environment, key, avg|min|")


@pytest.mark.parametrize(
    "text", ["", "x", "{}", '"[]"', "null", "[", "[[]", '["\\ud800"]', "[" * 100_000, "[] []"]
)
def test_invalid_arrays_of_series(text: str) -> None:
    with pytest.raises(Invalid, match="series") as told:
        parse_series(text)
    assert list(told.value.fields) == ["series"]
