"""Where a cost comes from: reported, computed, or none with its reason."""

from typing import Any

import pytest

from shared.reading.prices.cost import (
    UNITS,
    CallCost,
    CallUsage,
    CostLine,
    CostSource,
    cost_of,
    dollars,
    lines_of,
    reported_of,
)
from shared.reading.prices.rates import day_prices
from shared.reading.prices.terms import PriceTerms

PRICE = day_prices("p", PriceTerms.parse({"input": 1, "output": 2}), None).otherwise
FREE = day_prices("free", PriceTerms.parse({"input": 0, "output": 0}), None).otherwise
LIFETIMES = {"input": 1, "output": 2, "cache_write": 3, "cache_write_1h": 5}
TOKENS = {"input_tokens": 1000, "output_tokens": 500}
COMPUTED = 2000 * 10**6


def usage(**fields: Any) -> CallUsage:
    return CallUsage(**{"model": "m", **fields})


def shown(cost: CallCost) -> tuple[CostSource | None, int | None, int | None, str | None]:
    return cost.source, cost.cost, cost.computed, cost.unpriced_reason


def test_a_reported_cost_stands_beside_the_computed_one() -> None:
    cost = cost_of(usage(**TOKENS, reported=7), PRICE)
    assert shown(cost) == ("reported", 7, COMPUTED, None)
    assert (cost.reported, cost.price_id) == (7, "p")


@pytest.mark.parametrize("fields", [{}, TOKENS, {"is_usable": False}, {"model": None, **TOKENS}])
def test_a_reported_cost_needs_no_price(fields: dict[str, Any]) -> None:
    cost = cost_of(usage(**fields, reported=7), None)
    assert shown(cost) == ("reported", 7, None, None)
    assert cost.price_id is None


def test_a_reported_zero_beside_tokens_is_no_cost() -> None:
    cost = cost_of(usage(**TOKENS, reported=0), PRICE)
    assert shown(cost) == ("computed", COMPUTED, COMPUTED, None)
    assert (cost.reported, cost.notes) == (None, ())
    assert shown(cost_of(usage(**TOKENS, reported=0), None)) == ("unpriced", None, None, "no_price")
    assert shown(cost_of(usage(is_usable=False, reported=0), PRICE))[3] == "bad_usage"


def test_a_reported_zero_without_tokens_is_a_cost() -> None:
    assert shown(cost_of(usage(reported=0), PRICE)) == ("reported", 0, None, None)


def test_a_price_of_zero_is_a_cost() -> None:
    assert shown(cost_of(usage(**TOKENS), FREE)) == ("computed", 0, 0, None)


@pytest.mark.parametrize(
    ("fields", "has_price", "reason"),
    [
        ({"model": None, **TOKENS}, True, "no_model"),
        ({"model": "", **TOKENS}, True, "no_model"),
        (TOKENS, False, "no_price"),
        ({}, False, "no_price"),
        ({}, True, "no_usage"),
        ({"input_tokens": 0, "output_tokens": 0}, True, "no_usage"),
        ({**TOKENS, "is_usable": False}, True, "bad_usage"),
        ({**TOKENS, "audio_input_tokens": 1001}, True, "bad_usage"),
        ({**TOKENS, "audio_output_tokens": 501}, True, "bad_usage"),
        ({"output_tokens": 5, "audio_input_tokens": 1}, True, "bad_usage"),
    ],
)
def test_a_call_without_a_cost_has_a_reason(
    fields: dict[str, Any], has_price: bool, reason: str
) -> None:
    call, price = usage(**fields), PRICE if has_price else None
    cost = cost_of(call, price)
    assert shown(cost) == ("unpriced", None, None, reason)
    assert (cost.price_id, lines_of(call, price)) == (None, [])


@pytest.mark.parametrize("price", [None, PRICE])
def test_an_error_without_tokens_needs_no_cost(price: Any) -> None:
    assert shown(cost_of(usage(is_error=True), price)) == (None, None, None, None)
    assert shown(cost_of(usage(is_error=True, reported=7), price))[0] == "reported"
    assert shown(cost_of(usage(is_error=True, is_usable=False), price))[0] == "unpriced"
    assert shown(cost_of(usage(is_error=True, **TOKENS), price))[0] is not None


@pytest.mark.parametrize("fields", [{"input_tokens": 9}, {"output_tokens": 9}, {"web_searches": 9}])
def test_any_use_is_enough(fields: dict[str, int]) -> None:
    cost = cost_of(usage(**fields), PRICE)
    assert (cost.source, cost.unpriced_reason) == ("computed", None)


def quantities(cost: CallUsage, **prices: Any) -> dict[str, int]:
    price = day_prices("p", PriceTerms.parse({**LIFETIMES, **prices}), None).otherwise
    return {one.class_: one.quantity for one in lines_of(cost, price)}


def notes(cost: CallUsage, **prices: Any) -> tuple[str, ...]:
    price = day_prices("p", PriceTerms.parse({**LIFETIMES, **prices}), None).otherwise
    return cost_of(cost, price).notes


def test_an_unknown_lifetime_has_the_lower_price() -> None:
    call = usage(input_tokens=100, cache_write_tokens=100)
    assert notes(call) == ("write_lifetime_assumed",)
    assert quantities(call) == {"cache_write": 100}
    assert quantities(call, cache_write_1h=2) == {"cache_write_1h": 100}
    assert notes(call, cache_write_1h=2) == ("write_lifetime_assumed",)
    # There is nothing to assume where both have one price, or none was written.
    assert notes(call, cache_write_1h=3) == ()
    assert notes(usage(**TOKENS, cache_write_tokens=0)) == ()
    known = usage(input_tokens=100, cache_write_tokens=100, cache_write_1h_tokens=0)
    assert (notes(known), quantities(known)) == ((), {"cache_write": 100})


def test_more_for_an_hour_than_was_written_was_written() -> None:
    call = usage(input_tokens=100, cache_write_tokens=30, cache_write_1h_tokens=40)
    assert quantities(call) == {"input": 60, "cache_write_1h": 40}
    assert notes(call) == ()


def test_cached_tokens_above_the_input_are_added() -> None:
    equal = usage(input_tokens=100, cache_read_tokens=60, cache_write_tokens=40)
    assert quantities(equal) == {"cache_read": 60, "cache_write": 40}
    above = usage(input_tokens=100, cache_read_tokens=61, cache_write_tokens=40)
    assert quantities(above) == {"input": 100, "cache_read": 61, "cache_write": 40}
    assert notes(above) == ("write_lifetime_assumed", "cached_added")
    assert quantities(usage(cache_read_tokens=5)) == {"cache_read": 5}


def test_reasoning_above_the_output_is_added() -> None:
    within = usage(output_tokens=100, reasoning_tokens=100)
    assert (quantities(within), notes(within)) == ({"reasoning": 100}, ())
    above = usage(output_tokens=100, reasoning_tokens=101)
    assert quantities(above) == {"output": 100, "reasoning": 101}
    assert notes(above) == ("reasoning_added",)


def test_notes_have_one_order() -> None:
    price = day_prices("p", PriceTerms.parse(LIFETIMES), "turbo").otherwise
    call = usage(
        cache_write_tokens=1,
        output_tokens=1,
        reasoning_tokens=2,
        is_reported_usable=False,
    )
    assert cost_of(call, price).notes == (
        *("write_lifetime_assumed", "tier_unknown", "cached_added"),
        *("reasoning_added", "reported_ignored"),
    )
    unpriced = cost_of(usage(is_reported_usable=False), price)
    assert (unpriced.unpriced_reason, unpriced.notes) == ("no_usage", ("reported_ignored",))


def test_a_request_is_a_line_where_it_costs_something() -> None:
    price = day_prices(
        "p", PriceTerms.parse({"input": 1, "output": 2, "request": 5}), None
    ).otherwise
    [tokens, request] = lines_of(usage(input_tokens=2_000_000, web_searches=0), price)
    assert tokens == CostLine("input", 2_000_000, 1, 2)
    assert request == CostLine("request", 1, 5, 0.005)


@pytest.mark.parametrize(
    ("value", "units"),
    [
        (0, 0),
        (-0.0, 0),
        (1, UNITS),
        (0.1, UNITS // 10),
        ("0.1", UNITS // 10),
        ("1.5e-05", 15_000_000),
        (1e-12, 1),
        # Half a unit goes to the even side, and anything above it up.
        ("0.0000000000005", 0),
        ("0.0000000000015", 2),
        ("0.00000000000050000000000000000000000000000001", 1),
        (1_000_000, 1_000_000 * UNITS),
        (None, None),
        ("", None),
        (True, None),
        ([1], None),
        ({}, None),
    ],
)
def test_a_reported_cost_is_read_exactly(value: object, units: int | None) -> None:
    assert reported_of(value) == (units, True)


@pytest.mark.parametrize(
    "value",
    [
        *(-1, -1e-9, 1_000_000.01, 1e300, float("nan"), float("inf")),
        *("NaN", "-Infinity", "sNaN", "1000001", "-1", "much", "1_0", "$1", "1e999999999"),
        *("1" * 65, pytest.param(10**5000, id="huge")),
    ],
)
def test_a_reported_cost_that_cannot_count_is_said(value: object) -> None:
    assert reported_of(value) == (None, False)


def test_only_dollars_count() -> None:
    for currency in (None, "", "USD", "usd", 7):
        assert reported_of(1, currency) == (UNITS, True)
    assert reported_of(1, "EUR") == (None, False)
    assert reported_of(None, "EUR") == (None, True)


def test_dollars_are_the_nearest_number() -> None:
    assert dollars(None) is None
    assert dollars(123_456_789_012) == 0.123456789012
