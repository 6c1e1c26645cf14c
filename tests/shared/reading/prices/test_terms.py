"""The terms of a price as JSON: exact integers inside, and a clear reason for each refusal."""

from typing import Any

import pytest

from shared.foundation.core.errors import Invalid
from shared.reading.prices.terms import PriceTerms, Times

PRICES: dict[str, Any] = {"input": 3, "output": 15}
TIER: dict[str, Any] = {"above_input_tokens": 200_000, "prices": {"input": 6}}
VARIANT: dict[str, Any] = {"when": {"service_tier": "flex"}, "factor": 0.5}


def test_prices_are_exact_as_numbers_and_as_text() -> None:
    terms = PriceTerms.parse({"input": 0.1, "output": "0.300000", "cache_read": 1_000_000})
    assert terms.prices == {"input": 100_000, "output": 300_000, "cache_read": 10**12}
    assert PriceTerms.parse({"input": "0.000001", "output": 0.000001}).prices == {
        "input": 1,
        "output": 1,
    }


def test_terms_survive_their_own_json() -> None:
    when = {"service_tier": "batch", "utc_time": "16:30-00:30"}
    terms = PriceTerms.parse(
        {"output": 15, "input": 3, "web_search": 10},
        [{"above_input_tokens": 500_000, "prices": {"output": 30}}, TIER],
        [{"when": when, "prices": {"input": 0.123456}, "tiers": [TIER]}, VARIANT],
    )
    assert [one.above_input_tokens for one in terms.tiers] == [200_000, 500_000]
    assert terms.variants[0].times == Times(16 * 60 + 30, 30)
    shown = terms.shown()
    assert list(shown["prices"].items()) == [("input", 3), ("output", 15), ("web_search", 10)]
    assert shown["variants"][0]["when"] == when
    assert shown["variants"][1] == VARIANT
    assert PriceTerms.parse(**shown) == terms


def test_a_tier_is_compared_in_lower_case() -> None:
    terms = PriceTerms.parse(PRICES, [], [{"when": {"service_tier": " Flex"}, "factor": 1}])
    assert terms.variants[0].service_tier == "flex"


NO_PRICES: list[object] = [
    *(-1, "-0.1", 1_000_001, "1000000.000001", pytest.param(10**5000, id="huge"), 1e308),
    *(0.1234567, "0.0000001", 1e-7),
    *(True, None, "", "1,5", "NaN", "1e3", "\N{ARABIC-INDIC DIGIT THREE}", " 1", [1], {}),
]


@pytest.mark.parametrize("price", NO_PRICES)
def test_a_price_is_refused(price: object) -> None:
    require_refused("prices.output", {**PRICES, "output": price})
    require_refused("tiers.0.prices.input", PRICES, [{**TIER, "prices": {"input": price}}])
    variant = {**VARIANT, "prices": {"input": price}, "factor": None}
    require_refused("variants.1.prices.input", PRICES, [], [VARIANT, variant])


@pytest.mark.parametrize(
    ("prices", "path"),
    [
        ({"input": 1}, "prices.output"),
        ({"output": 1}, "prices.input"),
        ({**PRICES, "cached": 1}, "prices.cached"),
        (None, "prices"),
        ([], "prices"),
    ],
)
def test_prices_are_refused(prices: object, path: str) -> None:
    require_refused(path, prices)


@pytest.mark.parametrize(
    ("tiers", "path"),
    [
        ([TIER] * 6, "tiers"),
        ([TIER, TIER], "tiers"),
        ({}, "tiers"),
        ([7], "tiers.0"),
        ([{**TIER, "above_input_tokens": -1}], "tiers.0.above_input_tokens"),
        ([{**TIER, "above_input_tokens": 1.5}], "tiers.0.above_input_tokens"),
        ([{**TIER, "above_input_tokens": True}], "tiers.0.above_input_tokens"),
        ([{**TIER, "above_input_tokens": 2**32}], "tiers.0.above_input_tokens"),
        ([{"prices": {"input": 1}}], "tiers.0.above_input_tokens"),
        ([{**TIER, "prices": {}}], "tiers.0.prices"),
        ([{"above_input_tokens": 1}], "tiers.0.prices"),
        ([{**TIER, "below": 1}], "tiers.0.below"),
    ],
)
def test_tiers_are_refused(tiers: object, path: str) -> None:
    require_refused(path, PRICES, tiers)
    require_refused(f"variants.0.{path}", PRICES, [], [{**VARIANT, "tiers": tiers}])


@pytest.mark.parametrize(
    ("variant", "path"),
    [
        ({**VARIANT, "when": {}}, "when"),
        ({"factor": 1}, "when"),
        ({**VARIANT, "when": {"region": "eu"}}, "when.region"),
        ({**VARIANT, "when": {"service_tier": "Standard"}}, "when.service_tier"),
        ({**VARIANT, "when": {"service_tier": "x" * 33}}, "when.service_tier"),
        ({**VARIANT, "when": {"service_tier": 1}}, "when.service_tier"),
        ({**VARIANT, "when": {"utc_time": "9:00-10:00"}}, "when.utc_time"),
        ({**VARIANT, "when": {"utc_time": "09:00-24:00"}}, "when.utc_time"),
        ({**VARIANT, "when": {"utc_time": "09:00-09:00"}}, "when.utc_time"),
        ({**VARIANT, "when": {"utc_time": 9}}, "when.utc_time"),
        ({**VARIANT, "factor": 10.000001}, "factor"),
        ({**VARIANT, "factor": 0.0000001}, "factor"),
        ({**VARIANT, "prices": {"input": 1}}, ""),
        ({"when": {"service_tier": "flex"}}, ""),
        ({**VARIANT, "weight": 1}, "weight"),
        ("flex", ""),
    ],
)
def test_a_variant_is_refused(variant: object, path: str) -> None:
    require_refused(f"variants.0.{path}".rstrip("."), PRICES, [], [variant])
    require_refused("variants", PRICES, [], [variant] * 21)


def require_refused(path: str, *given: object) -> None:
    with pytest.raises(Invalid) as refused:
        PriceTerms.parse(*given)
    assert list(refused.value.fields) == [path]
