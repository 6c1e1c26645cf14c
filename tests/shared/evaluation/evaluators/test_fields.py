"""The writable fields of evaluators: each one's defaults, bounds and refusals."""

from decimal import Decimal
from typing import Any

import pytest

from shared.evaluation.evaluators.fields import (
    WRITABLE,
    checked,
    defaults,
    require_key,
    require_kind,
)
from shared.foundation.core.errors import Invalid


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("name", ["n", "n" * 128, "Ümläut 👩‍🔬"]),
        ("description", ["", "d" * 2000, "a\nb"]),
        ("labels", [[], ["l" * 64], [str(n) for n in range(20)]]),
        ("enabled", [True, False]),
        ("sample_seed", ["s", "s" * 64]),
        ("priority", [0, 9]),
        ("concurrency", [1, 32]),
        ("timeout_ms", [1000, 600_000]),
        ("max_attempts", [1, 10]),
        ("poll_max_secs", [10, 86_400]),
        ("idle_secs", [None, 10, 86_400]),
        ("rescore", ["never", "each_end", "each_idle"]),
        ("rescore_max", [1, 1000]),
        ("budget", [None, {"evaluations": 1, "tokens": None, "usd": 0.01}]),
        ("pool", [None]),
    ],
)
def test_values_within_the_bounds(name: str, values: list[Any]) -> None:
    for value in values:
        assert checked({name: value}) == {name: value}


@pytest.mark.parametrize("sample", [0, 100, 12.5, 0.01, 99.99])
def test_a_sample_has_two_decimals(sample: float) -> None:
    assert checked({"sample": sample}) == {"sample": Decimal(str(sample))}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("name", [None, "", " ", "n" * 129, "a\nb", 5]),
        ("description", [None, "d" * 2001, "a\0b", []]),
        ("labels", [None, "a", [""], ["l" * 65], ["ö" * 33], [1], [str(n) for n in range(21)]]),
        ("enabled", [None, 1, "true"]),
        ("sample", [None, -0.01, 100.01, 1.001, "50", True, float("nan")]),
        ("sample_seed", [None, "", "s" * 65, "a\0"]),
        ("priority", [None, -1, 10, 1.5, "5", True]),
        ("concurrency", [0, 33]),
        ("timeout_ms", [999, 600_001]),
        ("max_attempts", [0, 11]),
        ("poll_max_secs", [9, 86_401]),
        ("idle_secs", [0, 9, 86_401, "60"]),
        ("rescore", [None, "always", 1]),
        ("rescore_max", [0, 1001]),
        ("budget", [5, [], "none"]),
        ("pool", ["", "mine", 5]),
    ],
)
def test_values_outside_the_bounds(name: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(Invalid) as refused:
            checked({name: value})
        assert list(refused.value.fields) == [name], value


@pytest.mark.parametrize(
    ("budget", "field"),
    [
        ({"evaluations": 0}, "evaluations"),
        ({"evaluations": 1.5}, "evaluations"),
        ({"tokens": -1}, "tokens"),
        ({"tokens": 2**54}, "tokens"),
        ({"tokens": True}, "tokens"),
        ({"usd": 0}, "usd"),
        ({"usd": "1"}, "usd"),
    ],
)
def test_a_bad_amount_of_a_budget_names_itself(budget: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        checked({"budget": budget})
    assert list(refused.value.fields) == [f"budget.{field}"]


def test_a_budget_without_amounts_is_none() -> None:
    assert checked({"budget": {"usd": None, "other": 1}}) == {"budget": None}
    assert checked({"budget": {"tokens": 5.0}})["budget"] == {
        "evaluations": None,
        "tokens": 5,
        "usd": None,
    }


def test_whole_numbers_may_be_written_with_a_point() -> None:
    assert checked({"priority": 5.0, "unknown": 1}) == {"priority": 5}


def test_every_default_is_a_value() -> None:
    found = defaults("refund_policy")
    assert found.keys() == WRITABLE.keys()
    assert (found["name"], found["sample_seed"]) == ("refund_policy",) * 2
    assert checked(found) == found


@pytest.mark.parametrize("key", ["a", "a" * 128, "refund_policy_2"])
def test_keys(key: str) -> None:
    assert require_key(key) == key


@pytest.mark.parametrize("key", [None, 5, "", "A", "1a", "_a", "a-b", "a b", "a" * 129, "ä", "a\n"])
def test_what_is_no_key(key: object) -> None:
    with pytest.raises(Invalid) as refused:
        require_key(key)
    assert list(refused.value.fields) == ["key"]


@pytest.mark.parametrize("kind", [None, 5, "", "cel", "PUSH", "otlp"])
def test_what_is_no_kind(kind: object) -> None:
    with pytest.raises(Invalid) as refused:
        require_kind(kind)
    assert list(refused.value.fields) == ["kind"]
